import { accessSync, constants } from 'node:fs';
import path from 'node:path';
import { describe } from '@jest/globals';
import { chromium, type Browser, type BrowserContextOptions, type Page, type Response } from 'playwright-core';
import { childEnvironment } from '@slipway/platform-config/environment';

const CHROMIUM = chromiumOf(childEnvironment());

/** Runs a suite in a real browser. Without a browser, the suite is skipped by name. */
export function describeInBrowser(title: string, suite: () => void): void {
  (CHROMIUM ? describe : describe.skip)(title, suite);
}

function chromiumOf(environment: NodeJS.ProcessEnv): string | undefined {
  const named = environment['SLIPWAY_TEST_CHROMIUM'];
  if (named) return named;
  const folders = (environment['PATH'] ?? '').split(path.delimiter).filter(Boolean);
  const names = ['chromium', 'chromium-browser', 'google-chrome'];
  return names.flatMap((name) => folders.map((folder) => path.join(folder, name))).find(isProgram);
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * Failed requests that are no fault of a page: a stream or a request whose screen was left, and all connections that
 * Chromium closes when an interface or an address of the host changes, which the page asks for again.
 */
const NO_FAULT = ['net::ERR_ABORTED', 'net::ERR_NETWORK_CHANGED'];

interface VisitOptions {
  width?: number;
  height?: number;
  theme?: 'light' | 'dark';
  /** Origins other than the console's that a page may call: a hosted sign-in leads to the provider. */
  origins?: string[];
}

/** A browser for one suite, and the unexpected requests and errors of its pages. */
export class ConsoleBrowser {
  private constructor(
    readonly browser: Browser,
    readonly origin: string,
  ) {}

  static async open(origin: string): Promise<ConsoleBrowser> {
    // As root, and in containers, Chromium has no sandbox of its own.
    const args = ['--no-sandbox', '--disable-dev-shm-usage'];
    return new ConsoleBrowser(await chromium.launch({ executablePath: CHROMIUM, args }), origin);
  }

  async close(): Promise<void> {
    await this.browser.close();
  }

  /** Opens a page as a new person: without cookies and storage of other visits. */
  async visit({ width = 1440, height = 900, theme = 'light', origins = [] }: VisitOptions = {}): Promise<Visit> {
    const options: BrowserContextOptions = { viewport: { width, height }, colorScheme: theme, baseURL: this.origin };
    const context = await this.browser.newContext(options);
    context.setDefaultTimeout(60_000);
    return new Visit(await context.newPage(), [this.origin, ...origins]);
  }

  /** The same, signed in through the form. */
  async signedIn(token: string, at = '/', options: VisitOptions = {}): Promise<Visit> {
    const visit = await this.visit(options);
    await visit.page.goto(at);
    await visit.signIn(token);
    return visit;
  }
}

/** A page, and everything that failed in it. */
export class Visit {
  /** Each answer that the browser received. */
  readonly answers: Response[] = [];
  private faults: string[] = [];

  constructor(
    readonly page: Page,
    origins: string[],
  ) {
    page.on('request', (request) => {
      const { origin, protocol } = new URL(request.url());
      if (/^https?:$/.test(protocol) && !origins.includes(origin)) this.faults.push(`asked ${request.url()}`);
    });
    page.on('response', (answer) => {
      this.answers.push(answer);
      // The absence of a resource (a route, a policy) is a normal answer.
      if (answer.status() >= 400 && !isAbsence(answer)) this.faults.push(`${answer.status()} ${answer.url()}`);
    });
    page.on('requestfailed', (request) => {
      const why = request.failure()?.errorText ?? '';
      if (!NO_FAULT.includes(why)) this.faults.push(`${why} ${request.url()}`);
    });
    page.on('pageerror', (error) => this.faults.push(`threw ${error.message}`));
    page.on('console', (message) => {
      // The browser's own line for a failure that `response` or `requestfailed` has already reported.
      if (message.type() !== 'error' || message.text().startsWith('Failed to load resource')) return;
      this.faults.push(`console: ${message.text()}`);
    });
  }

  /** Returns a list of what the page writes into the console from now on: every error and warning, also those of the browser. */
  consoleLines(): string[] {
    const lines: string[] = [];
    this.page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) lines.push(`${this.page.url()} ${message.text()}`);
    });
    return lines;
  }

  async signIn(token: string): Promise<void> {
    await this.page.getByLabel('API token').fill(token);
    await this.page.getByRole('button', { name: 'Sign in' }).click();
    await this.page.getByRole('navigation', { name: 'Pages' }).waitFor({ state: 'attached' });
  }

  /**
   * Opens the address and waits until the screen is drawn: its head is visible, and no part waits for a first answer.
   */
  async open(target: string): Promise<void> {
    await this.page.goto(target);
    await this.isDrawn();
  }

  async isDrawn(): Promise<void> {
    await this.page.getByRole('main').getByRole('heading', { level: 1 }).first().waitFor();
    const waiting = this.page.getByRole('main').getByText(/^Waiting for /);
    await waiting.first().waitFor({ state: 'hidden' });
  }

  /** Returns the faults since the last call, without the expected ones. */
  takeFaults(...expected: RegExp[]): string[] {
    const faults = this.faults.filter((fault) => !expected.some((one) => one.test(fault)));
    this.faults = [];
    return faults;
  }

  async close(): Promise<void> {
    await this.page.context().close();
  }
}

const isAbsence = (answer: Response): boolean =>
  answer.status() === 404 && new URL(answer.url()).pathname.startsWith('/console/api/');
