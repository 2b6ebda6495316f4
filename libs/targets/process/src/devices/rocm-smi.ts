import type { Device } from '@slipway/contracts';
import { MAX_DEVICES, shown } from './nvidia-smi.js';

export const ROCM_QUERY = ['--showuniqueid', '--showproductname', '--showmeminfo', 'vram', '--json'] as const;

/**
 * Parses the output of `ROCM_QUERY`: `{card0: {"Unique ID": …, "VRAM Total Memory (B)": …}}`. Members of another form
 * are skipped.
 */
export function parseRocm(output: string): Device[] {
  const cards = Object.entries(objectOf(output)).slice(0, MAX_DEVICES);
  return cards.flatMap(([key, value]): Device[] => {
    const index = /^card(\d{1,4})$/.exec(key)?.[1];
    if (index === undefined || typeof value !== 'object' || value === null) return [];
    const card = value as Record<string, unknown>;
    const id = /^0x[0-9a-f]{1,32}$/i.exec(String(card['Unique ID'] ?? ''))?.[0];
    return [
      {
        // Consumer cards have no id.
        uuid: id === undefined ? `amd${index}` : `AMD-${id.slice(2).toLowerCase()}`,
        index: Number(index),
        name: shown(String(card['Card Series'] ?? card['Card series'] ?? card['Device Name'] ?? 'AMD GPU')),
        memory_mb: mebibytes(card['VRAM Total Memory (B)']),
        used_mb: mebibytes(card['VRAM Total Used Memory (B)']),
        is_usable: true,
        foreign_mb: 0,
      },
    ];
  });
}

/** Some versions print warnings before the JSON. */
function objectOf(output: string): Record<string, unknown> {
  try {
    const parsed: unknown = JSON.parse(output.slice(output.indexOf('{')));
    return typeof parsed === 'object' && parsed !== null ? (parsed as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

function mebibytes(bytes: unknown): number | null {
  return /^\d{1,18}$/.test(String(bytes)) ? Math.floor(Number(bytes) / 2 ** 20) : null;
}
