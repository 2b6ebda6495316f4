import { createInterface, type Interface } from 'node:readline';
import { Writable } from 'node:stream';
import { failureLines } from '../failure-lines.js';
import type { Session } from '../session.js';
import { harmless, painted } from '../terminal.js';
import { answerParts, type ChatRequest, type Gateway, type Message } from './model-answer.js';

const PROMPT = '>>> ';
const LEAVE = ['/bye', '/exit', '/quit'];
const HELP = [
  '/clear  begin a new conversation',
  '/bye    leave, as Ctrl-D does',
  'Ctrl-C  end the answer that is being written',
];

/** Writes an answer while it arrives, and the thoughts of the model only on a terminal. @returns what was said */
export async function writeAnswer(
  session: Session,
  gateway: Gateway,
  request: ChatRequest,
  signal: AbortSignal,
): Promise<string> {
  const { terminal } = session;
  const { stdout } = terminal.streams;
  const isTerminal = terminal.isTerminal('stdout');
  let [said, last, wasThought] = ['', '\n', false];
  const write = (text: string): void => {
    const shown = isTerminal ? text.split('\n').map(harmless).join('\n') : text;
    stdout.write(wasThought && terminal.hasColour('stdout') ? painted(shown, 'grey') : shown);
    last = text.at(-1) ?? last;
  };
  const parts = answerParts(session, gateway, request, signal);
  try {
    for (;;) {
      const { done, value } = await parts.next();
      if (done) {
        if (value === 'length') session.note('The answer was cut at its longest length. A longer one: --max-tokens');
        return said;
      }
      if (value.isThought && !isTerminal) continue;
      if (wasThought && !value.isThought && last !== '\n') write('\n');
      wasThought = value.isThought;
      write(value.text);
      if (!value.isThought) said += value.text;
    }
  } catch (error) {
    if (!signal.aborted) throw error;
    return said;
  } finally {
    if (last !== '\n') stdout.write('\n');
  }
}

/**
 * Talks to a model until the person leaves. Ctrl-C ends the answer that is being written, and not the conversation.
 * @param request its only message, if it has one, is the instructions for the model
 */
export async function converse(session: Session, gateway: Gateway, request: ChatRequest): Promise<void> {
  let messages = request.messages;
  const typing = new TypedLines(session);
  session.note(`Talking to ${harmless(request.model)}. /help lists the commands; Ctrl-D leaves.`);
  try {
    for (;;) {
      const line = await typing.next();
      if (line === undefined || LEAVE.includes(line)) return;
      if (line === '') continue;
      if (line === '/clear') messages = request.messages;
      else if (line === '/help' || line === '/?') for (const one of HELP) session.note(one);
      else if (/^\/[a-z?]+$/.test(line)) session.note(`${harmless(line)} is not a command. /help lists the commands.`);
      else messages = await answered(session, gateway, { ...request, messages }, line, typing);
    }
  } finally {
    typing.end();
  }
}

/** @returns the conversation with the message and its answer; without both if there is no answer */
async function answered(
  session: Session,
  gateway: Gateway,
  request: ChatRequest,
  content: string,
  typing: TypedLines,
): Promise<readonly Message[]> {
  const messages: readonly Message[] = [...request.messages, { role: 'user', content }];
  const stop = new AbortController();
  try {
    const said = await typing.during(stop, () => writeAnswer(session, gateway, { ...request, messages }, stop.signal));
    return said === '' ? request.messages : [...messages, { role: 'assistant', content: said }];
  } catch (error) {
    // An answer that fails does not end the conversation.
    for (const line of failureLines(error, session.terminal)) session.note(line);
    return request.messages;
  }
}

/** The lines that a person types. While an answer is written, keys are read, but not shown. */
class TypedLines {
  private readonly lines: Interface;
  private readonly typed: string[] = [];
  private answer: AbortController | undefined;
  private hasEnded = false;
  private isAskedToLeave = false;
  private ring: () => void = () => undefined;

  constructor(private readonly session: Session) {
    const { stdin: input, stderr } = session.terminal.streams;
    const output = new Writable({
      write: (chunk, _encoding, done) => {
        if (this.answer === undefined) stderr.write(chunk);
        done();
      },
    });
    this.lines = createInterface({ input, output, terminal: true, prompt: PROMPT });
    this.lines.on('line', (line) => {
      this.isAskedToLeave = false;
      this.typed.push(line.trim());
      this.ring();
    });
    this.lines.on('close', () => {
      this.hasEnded = true;
      this.ring();
    });
    this.lines.on('SIGINT', () => this.interrupt());
    session.signal.addEventListener('abort', () => this.end());
  }

  /** The next line; undefined if the person leaves. */
  async next(): Promise<string | undefined> {
    if (this.typed.length === 0 && !this.hasEnded) {
      const typed = new Promise<void>((resolve) => (this.ring = resolve));
      this.lines.prompt();
      await typed;
    }
    return this.typed.shift();
  }

  /** Ctrl-C aborts this work, and nothing else. */
  async during<T>(stop: AbortController, work: () => Promise<T>): Promise<T> {
    this.answer = stop;
    try {
      return await work();
    } finally {
      this.answer = undefined;
    }
  }

  end(): void {
    this.answer?.abort();
    this.lines.close();
  }

  private interrupt(): void {
    if (this.answer !== undefined) return this.answer.abort();
    if (this.lines.line === '' && this.isAskedToLeave) return this.end();
    this.isAskedToLeave = this.lines.line === '';
    this.session.note(this.isAskedToLeave ? '\nPress Ctrl-C again to leave, or Ctrl-D.' : '^C');
    // Discards the typed text, as a shell does.
    this.lines.write(null, { ctrl: true, name: 'e' });
    this.lines.write(null, { ctrl: true, name: 'u' });
    this.lines.prompt();
  }
}
