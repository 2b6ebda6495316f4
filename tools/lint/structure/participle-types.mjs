import { typesIn } from './workspace.mjs';

/** Nouns that end like a participle. */
const NOUNS = new Set(
  `Bed Being Binding Building Ceiling Children Feed Finding Garden Heading King Kitchen Listing Mapping Meaning Meeting
  Metering Need Ping Pricing Rating Reading Ring Routing Screen Seed Setting Speed Spring String Thing Timing Token Warning
  Wording`.split(/\s+/),
);

/** Irregular participles, adjectives, and other words that do not name a thing. */
const OTHERS = new Set(
  `Made Kept Sent Held Left Lost Met Built Bound Bought Brought Caught Cut Dealt Done Drawn Felt Found Gone Got Grown Heard Hid Laid
  Led Lent Lit Known Meant Paid Put Ran Read Said Sat Seen Shot Shown Shut Sold Spent Spun Stood Stuck Struck Swept Taught Thought Thrown
  Told Torn Understood Won Worn Born Begun Sung Sunk Drunk
  Alive Asleep Awake Bad Bare Big Blind Broad Broken Busy Clean Closed Cold Common Deep Dirty Done Dry Due Early Empty Exact False
  Fast Few Final Fit Flat Foreign Free Fresh Full Good Hard Healthy Heavy High Hopeless Hot Idle Ill Large Late Latest Light Live
  Long Loose Low Mere Missing New Odd Old Open Own Plain Poor Quick Quiet Rare Raw Ready Real Recent Same Sane Safe Short Sick
  Silent Slow Small Solid Sound Spare Stale Still Strict Sure Tall Thin Tight Tiny True Unfit Unsafe Vacant Valid Warm Weak Whole
  Wide Wild Young Active Inactive Native Passive Relative
  About Above After Again Against Ago Around Before Behind Below Beside Between Beyond But Earlier Else Except Here How Inside Later
  Less Many More Most Much Next Only Other Outside Over Since Some Then There Under Until What When Where Which While Who Whose Why
  With Within Without`.split(/\s+/),
);
const ADJECTIVE = /^(?!.*(?:Table|Variable)$)[A-Z][a-z]+(?:able|ible|less|ful)$/;
const ENDING = /^[A-Z][a-z]*(?:ed|en|ing)$/;

/** `Asked` and `Found` do not say what was asked or found. The name of a type is a noun. */
export default {
  name: 'participle-types',
  says: 'a type whose whole name is a participle, an adjective or another word that is no noun',
  find(workspace) {
    return workspace.sources.flatMap((file) =>
      typesIn(workspace.text(file))
        .filter(({ name }) => isNoNoun(name))
        .map(({ name, line }) => ({ file, line, text: `\`${name}\`: name the thing, as in \`RolloutRequest\`` })),
    );
  },
};

export function isNoNoun(name) {
  return !NOUNS.has(name) && (OTHERS.has(name) || ENDING.test(name) || ADJECTIVE.test(name));
}
