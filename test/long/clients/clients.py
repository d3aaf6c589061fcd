# What fhirpy and fhir.resources do with a server: each line of the output is a step that went well. Argument: the FHIR base.
import sys

from fhir.resources.bundle import Bundle
from fhir.resources.patient import Patient
from fhirpy import SyncFHIRClient
from fhirpy.base.exceptions import OperationOutcome, ResourceNotFound

base = sys.argv[1]
# It counts with a parameter of its own (`_totalMethod`), which a server passes over where it is asked to.
client = SyncFHIRClient(base, extra_headers={"Prefer": "handling=lenient"})

patient = client.resource("Patient", name=[{"family": "Py"}], birthDate="1815-12-10")
patient.save()
assert patient.id
patient["active"] = True
patient.save()
assert client.reference("Patient", patient.id).to_resource()["active"] is True
try:
    # It sends a merge patch as plain JSON, which no FHIR server is told how to read.
    patient.patch(gender="female")
    raise SystemExit("took a patch that may be of two kinds")
except OperationOutcome as error:
    assert "application/json-patch+json" in str(error), error
print("written")

for text in "abc":
    client.resource(
        "Observation", status="final", code={"text": text}, subject={"reference": f"Patient/{patient.id}"}
    ).save()
found = client.resources("Observation").search(subject=f"Patient/{patient.id}").limit(1).fetch_all()
assert sorted(each["code"]["text"] for each in found) == ["a", "b", "c"]
assert client.resources("Patient").search(family="py").count() >= 1
print("searched")

try:
    client.reference("Patient", "none").to_resource()
    raise SystemExit("found what is not there")
except ResourceNotFound:
    pass
try:
    client.resource("Patient", gender=1).save()
    raise SystemExit("stored what is no Patient")
except OperationOutcome as error:
    assert "gender" in str(error), error
print("refused")

# fhir.resources has models of R5: what the server answers is what they read, and the other way round.
read = Patient.model_validate(dict(client.execute(f"Patient/{patient.id}", method="get")))
assert read.name[0].family == "Py" and read.birthDate.year == 1815
bundle = Bundle.model_validate(dict(client.execute("Patient", method="get", params={"_id": patient.id})))
assert bundle.entry[0].resource.id == patient.id
sent = Patient.model_validate({"resourceType": "Patient", "name": [{"family": "Model"}], "deceasedBoolean": False})
client.execute("Patient", method="post", data=sent.model_dump(mode="json"))
print("done")
