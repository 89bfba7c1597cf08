# syntax=docker/dockerfile:1
# The gateway in a distroless image: no shell, no package manager, not root, and it runs with a read-only root file system.
#
#   docker build -t toolarsenal .
#   docker run --read-only --tmpfs /tmp -p 8080:8080 -v ./arsenal.yaml:/etc/toolarsenal/config.yaml:ro toolarsenal
#
# MCP servers that are started as programs (npx, uvx, python) need those programs: build with --target stdio for npx.

# The base images are arguments, for registries of your own: --build-arg NODE_IMAGE=registry.example.com/node:24-trixie-slim
ARG NODE_IMAGE=node:24-trixie-slim
ARG DISTROLESS_IMAGE=gcr.io/distroless/nodejs24-debian13:nonroot

FROM ${NODE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json config.schema.json ./
COPY scripts ./scripts
COPY src ./src
COPY dashboard ./dashboard
RUN npm run build

# What runs: the dependencies, and the clients of PostgreSQL and Redis, which the package leaves to its users. Node finds them in /node_modules.
FROM ${NODE_IMAGE} AS packages
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts --omit=dev \
  && npm install --prefix /clients --ignore-scripts --no-save --no-package-lock pg@8.23.1 redis@6.3.1 \
  && mkdir /data

# Everything of the image that is ours, in one place for both targets.
FROM scratch AS app
COPY package.json config.schema.json LICENSE /app/
COPY models/weights /app/models/weights
COPY --from=packages /app/node_modules /app/node_modules
COPY --from=packages /clients/node_modules /node_modules
COPY --from=build /app/dist /app/dist

# With npm and npx, for MCP servers that are started as programs.
FROM ${NODE_IMAGE} AS stdio
COPY --from=app / /
COPY --from=packages --chown=1000:1000 /data /data
ENV NODE_ENV=production TOOLARSENAL_CACHE=/data/cache NPM_CONFIG_CACHE=/data/npm
WORKDIR /app
USER 1000:1000
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s CMD ["node", "-e", "fetch('http://127.0.0.1:8080/healthz').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "/app/dist/cli/main.js"]
CMD ["serve", "--config", "/etc/toolarsenal/config.yaml"]

FROM ${DISTROLESS_IMAGE} AS gateway
COPY --from=app / /
COPY --from=packages --chown=65532:65532 /data /data
ENV NODE_ENV=production TOOLARSENAL_CACHE=/data/cache
WORKDIR /app
USER 65532:65532
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s CMD ["/nodejs/bin/node", "-e", "fetch('http://127.0.0.1:8080/healthz').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["/nodejs/bin/node", "/app/dist/cli/main.js"]
CMD ["serve", "--config", "/etc/toolarsenal/config.yaml"]
