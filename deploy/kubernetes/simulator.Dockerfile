# A model server without a model, for a cluster on which you try Slipway. It needs the output of `npm run build`.
# Build from the repository's root: docker build -f deploy/kubernetes/simulator.Dockerfile -t inference-sim:trial .

FROM node:24-bookworm-slim@sha256:6f7b03f7c2c8e2e784dcf9295400527b9b1270fd37b7e9a7285cf83b6951452d
WORKDIR /app
COPY tools/inference-sim/package.json ./package.json
COPY tools/inference-sim/dist ./dist
USER 1000:1000
EXPOSE 8000
CMD ["node", "dist/main.js", "--host", "0.0.0.0", "--port", "8000", "--model", "sim"]
