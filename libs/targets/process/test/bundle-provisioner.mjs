// Prints the provisioner as one file, because a child that loads each module of its libraries takes a second to start.
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/** An index exports more than the driver needs. This plug-in loads no module only because an index names it. */
const onlyWhatIsUsed = {
  name: 'only-what-is-used',
  setup({ onResolve, resolve }) {
    onResolve({ filter: /^(@slipway\/|\.)/ }, async ({ path, kind, importer, resolveDir, pluginData }) => {
      if (kind === 'entry-point' || pluginData === onlyWhatIsUsed) return undefined;
      const found = await resolve(path, { kind, importer, resolveDir, pluginData: onlyWhatIsUsed });
      return { ...found, sideEffects: false };
    });
    onResolve({ filter: /^[^./]/ }, ({ path }) =>
      path.startsWith('@slipway/') || path === 'undici' ? undefined : { path, external: true, sideEffects: false },
    );
  },
};

const { outputFiles } = await build({
  entryPoints: [fileURLToPath(new URL('./provisioner.ts', import.meta.url))],
  bundle: true,
  write: false,
  platform: 'node',
  format: 'esm',
  tsconfigRaw: {},
  // Undici is CommonJS.
  banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
  plugins: [onlyWhatIsUsed],
  logLevel: 'error',
});
process.stdout.write(outputFiles[0].text);
