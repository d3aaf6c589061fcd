/** A client in one language: how it is generated, compiled and run. Each reads a Patient, changes its gender, and finds it again. */
export interface Language {
  /** Of openapi-generator. */
  readonly generator: string;
  readonly options: readonly string[];
  /** The file with the program, below the generated ones. */
  readonly file: string;
  readonly program: string;
  /** The command that runs without a fault where there are a compiler and the libraries. */
  readonly needs: readonly string[];
  /** Commands in the folder of the client; the last one is given the base URL and the id. */
  readonly commands: readonly (readonly string[])[];
}

/** The four languages. @param tsc the compiler of this checkout */
export function languages(tsc: string): readonly Language[] {
  return [
    {
      generator: 'typescript-fetch',
      options: [],
      file: 'use.ts',
      program: `
import { Configuration, PatientApi } from './index';
declare const process: { argv: string[] };
const [, , base = '', id = ''] = process.argv;
async function main(): Promise<void> {
  const api = new PatientApi(new Configuration({ basePath: base }));
  const patient = await api.patientRead({ id });
  console.log(patient.gender, patient.birthDate, patient.name?.[0]?.given?.join(' '), patient.contact?.[0]?.gender);
  await api.patientUpdate({ id, patient: { ...patient, gender: 'other' } });
  const found = await api.patientSearchType({ family: [id], count: 5 });
  console.log(found.entry?.map(({ resource }) => resource?.['id']).join());
}
void main();
`,
      needs: [process.execPath, '--version'],
      commands: [
        [process.execPath, tsc, '--strict', '--skipLibCheck', '--module', 'commonjs', '--target', 'ES2022', '--lib', 'ES2022,DOM', '--outDir', 'made', 'use.ts'], // prettier-ignore
        [process.execPath, 'made/use.js'],
      ],
    },
    {
      generator: 'java',
      // Lists that are not there would be sent as empty ones, which FHIR refuses.
      options: ['--additional-properties=useSingleRequestParameter=true,containerDefaultToNull=true'],
      file: 'Use.java',
      program: `
import java.util.List;
import org.openapitools.client.ApiClient;
import org.openapitools.client.api.PatientApi;
import org.openapitools.client.model.Patient;

class Use {
  public static void main(String[] arguments) throws Exception {
    String id = arguments[1];
    PatientApi api = new PatientApi(new ApiClient().setBasePath(arguments[0]));
    Patient patient = api.patientRead(id).execute();
    System.out.println(patient.getGender() + " " + patient.getBirthDate() + " " + String.join(" ", patient.getName().get(0).getGiven()) + " " + patient.getContact().get(0).getGender());
    patient.setGender("other");
    api.patientUpdate(id, patient).execute();
    api.patientSearchType().family(List.of(id)).count(5).execute().getEntry().forEach(entry -> System.out.println(entry.getResource().get("id")));
  }
}
`,
      needs: ['mvn', '-q', 'dependency:get', '-Dartifact=com.squareup.okhttp3:okhttp:4.12.0'],
      commands: [
        ['mvn', '-q', 'compile', 'dependency:build-classpath', '-Dmdep.outputFile=classpath.txt'],
        ['sh', '-c', 'java -cp "target/classes:$(cat classpath.txt)" Use.java "$@"', 'java'],
      ],
    },
    {
      generator: 'go',
      options: [],
      file: 'use/main.go',
      program: `
package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	openapi "github.com/GIT_USER_ID/GIT_REPO_ID"
)

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func main() {
	base, id := os.Args[1], os.Args[2]
	settings := openapi.NewConfiguration()
	settings.Servers = openapi.ServerConfigurations{{URL: base}}
	api := openapi.NewAPIClient(settings).PatientAPI
	ctx := context.Background()
	patient, _, err := api.PatientRead(ctx, id).Execute()
	must(err)
	fmt.Println(patient.GetGender(), patient.GetBirthDate(), strings.Join(patient.GetName()[0].GetGiven(), " "), patient.GetContact()[0].GetGender())
	patient.SetGender("other")
	_, _, err = api.PatientUpdate(ctx, id).Patient(*patient).Execute()
	must(err)
	found, _, err := api.PatientSearchType(ctx).Family([]string{id}).Count(5).Execute()
	must(err)
	for _, entry := range found.GetEntry() {
		fmt.Println(entry.GetResource()["id"])
	}
}
`,
      needs: ['go', 'version'],
      commands: [
        ['go', 'vet', '.'],
        ['go', 'run', './use'],
      ],
    },
    {
      generator: 'python',
      options: [],
      file: 'use.py',
      program: `
import sys
from openapi_client import ApiClient, Configuration, PatientApi

base, id = sys.argv[1:]
api = PatientApi(ApiClient(Configuration(host=base)))
patient = api.patient_read(id)
print(patient.gender, patient.birth_date, ' '.join(patient.name[0].given), patient.contact[0].gender)
patient.gender = 'other'
api.patient_update(id, patient)
found = api.patient_search_type(family=[id], count=5)
for entry in found.entry:
    print(entry.resource['id'])
`,
      needs: ['python3', '-c', 'import pydantic, urllib3, dateutil, typing_extensions; assert pydantic.VERSION >= "2"'],
      commands: [
        ['python3', '-m', 'compileall', '-q', 'openapi_client'],
        ['python3', 'use.py'],
      ],
    },
  ];
}
