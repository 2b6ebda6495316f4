import { accessSync, constants } from 'node:fs';
import path from 'node:path';
import { describe } from '@jest/globals';
import { chromium, type Browser, type BrowserContextOptions, type Page, type Response } from 'playwright-core';
import { childEnvironment } from '@slipway/platform-config/environment';

const CHROMIUM = chromiumOf(childEnvironment());

/** A suite in a real browser. Where there is none it is skipped by name. */
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

interface VisitOptions {
  width?: number;
  height?: number;
  theme?: 'light' | 'dark';
  /** Origins other than the console's that it may ask: a hosted sign-in leads to the provider. */
  origins?: string[];
}

/** A browser for one suite, and what its pages did that they should not have. */
export class ConsoleBrowser {
  private constructor(
    readonly browser: Browser,
    readonly origin: string,
  ) {}

  static async open(origin: string): Promise<ConsoleBrowser> {
    // As root, and in containers, Chromium has no sandbox of its own to offer.
    const args = ['--no-sandbox', '--disable-dev-shm-usage'];
    return new ConsoleBrowser(await chromium.launch({ executablePath: CHROMIUM, args }), origin);
  }

  async close(): Promise<void> {
    await this.browser.close();
  }

  /** A person of their own: no cookie, no storage of another visit. */
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

/** A page, and everything that went wrong in it. */
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
      // That something is not there (a route, a policy) is an answer like another.
      if (answer.status() >= 400 && !isAbsence(answer)) this.faults.push(`${answer.status()} ${answer.url()}`);
    });
    page.on('requestfailed', (request) => {
      const why = request.failure()?.errorText ?? '';
      // A stream or a question whose screen was left.
      if (why !== 'net::ERR_ABORTED') this.faults.push(`${why} ${request.url()}`);
    });
    page.on('pageerror', (error) => this.faults.push(`threw ${error.message}`));
    page.on('console', (message) => {
      // The browser's own line for what `response` and `requestfailed` have told already.
      if (message.type() !== 'error' || message.text().startsWith('Failed to load resource')) return;
      this.faults.push(`console: ${message.text()}`);
    });
  }

  async signIn(token: string): Promise<void> {
    await this.page.getByLabel('API token').fill(token);
    await this.page.getByRole('button', { name: 'Sign in' }).click();
    await this.page.getByRole('navigation', { name: 'Pages' }).waitFor({ state: 'attached' });
  }

  /** Goes there and waits until the screen is drawn: its head is there, and nothing on it still waits for a first answer. */
  async open(target: string): Promise<void> {
    await this.page.goto(target);
    await this.isDrawn();
  }

  async isDrawn(): Promise<void> {
    await this.page.getByRole('main').getByRole('heading', { level: 1 }).first().waitFor();
    const waiting = this.page.getByRole('main').getByText(/^Waiting for /);
    await waiting.first().waitFor({ state: 'hidden' });
  }

  /** What went wrong since the last call, without what was expected to. */
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
