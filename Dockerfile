# Kiln in a container: docker build -t kiln . ; see docs/production.md.

FROM node:20-bookworm-slim AS build
# better-sqlite3 is compiled where no prebuilt binary of it can be had.
RUN apt-get update && apt-get install --yes --no-install-recommends g++ make python3
WORKDIR /kiln
COPY .npmrc package.json package-lock.json ./
# Scripts of packages do not run, but for the one that is needed.
RUN npm ci --ignore-scripts && npm rebuild better-sqlite3
COPY . .
RUN npm run build && rm -r dist/generator && npm prune --omit=dev --ignore-scripts

FROM node:20-bookworm-slim
ENV NODE_ENV=production KILN_HOST=0.0.0.0
COPY --from=build /kiln/LICENSE /kiln/package.json /kiln/
COPY --from=build /kiln/scripts/container-health.mjs /kiln/scripts/
COPY --from=build /kiln/node_modules /kiln/node_modules
COPY --from=build /kiln/dist /kiln/dist
RUN ln -s /kiln/dist/runtime/cli/main.js /usr/local/bin/kiln && install -d -o node -g node -m 0700 /var/lib/kiln/data
# Data, and the audit log, are in ./data where nothing else is said.
WORKDIR /var/lib/kiln
USER node
VOLUME /var/lib/kiln/data
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s CMD ["node", "/kiln/scripts/container-health.mjs"]
ENTRYPOINT ["kiln"]
CMD ["serve"]
