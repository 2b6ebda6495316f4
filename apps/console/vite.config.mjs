import tailwind from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { requestSchemas } from './request-schemas.mjs';

/**
 * sonner inserts its styles into the page when it is loaded, which our content security policy
 * forbids; `main.tsx` imports them as a file.
 */
const stylesOfSonnerAsFile = {
  name: 'styles-of-sonner-as-file',
  transform(code, id) {
    if (!/\/sonner\/dist\/index\.mjs/.test(id)) return null;
    const without = code.replace(/^__insertCSS\(".*"\);$/m, '');
    if (without === code) throw new Error('sonner no longer inserts its styles this way: update vite.config.mjs');
    return { code: without, map: null };
  },
};

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react(), tailwind(), stylesOfSonnerAsFile, requestSchemas],
  // The workspace's libraries are compiled from their sources, as in the tests.
  resolve: { conditions: ['@slipway/source', 'module', 'browser', 'development|production'] },
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    target: 'es2022',
    // An asset inlined as `data:` would need an exception in the content security policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  logLevel: 'warn',
});
