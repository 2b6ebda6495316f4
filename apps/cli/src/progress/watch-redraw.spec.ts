import { Writable } from 'node:stream';
import { expect, it } from '@jest/globals';
import { Redraw } from './watch.js';

/** Simulates the rows of a terminal that breaks long lines, after what was written to it. */
function terminal() {
  let written = '';
  const stream = new Writable({
    write(chunk, _encoding, done) {
      written += String(chunk);
      done();
    },
  });
  const rows = (columns: number) => {
    let screen: string[] = [''];
    let row = 0;

    for (const [, order, text] of written.matchAll(/(\u001b\[\d*[AJ]|\r|\n)|([^\u001b\r\n]+)/g)) {
      if (text) {
        const parts = text.match(new RegExp(`.{1,${columns}}`, 'gu')) ?? [];
        for (const [index, part] of parts.entries()) screen[(row += index > 0 ? 1 : 0)] = part;
      } else if (order === '\n') screen[(row += 1)] ??= '';
      else if (order?.endsWith('A')) row -= Number(order.slice(2, -1));
      else if (order?.endsWith('J')) screen = [...screen.slice(0, row), ''];
    }
    return screen;
  };
  return { stream, rows };
}

it('overwrites its earlier lines, with more lines and with fewer', () => {
  const { stream, rows } = terminal();
  stream.write('before\n');
  const redraw = new Redraw(stream, () => 20);
  redraw.draw(['one']);
  redraw.draw(['two', 'three']);
  redraw.draw(['four']);
  expect(rows(20)).toEqual(['before', 'four', '']);
});

it('leaves no old rows if the terminal became narrower', () => {
  const { stream, rows } = terminal();
  let columns = 10;
  const redraw = new Redraw(stream, () => columns);
  redraw.draw(['0123456789', 'ab']);
  columns = 4;
  redraw.draw(['0123', 'ab']);
  expect(rows(4)).toEqual(['0123', 'ab', '']);
});
