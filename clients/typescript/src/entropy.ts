/** Entropy of a seat's own, which no server can foresee: drawn, committed to, and revealed before the deal (docs/fairness.md). */

import { Code } from "@connectrpc/connect";

import { MoonvaleError } from "./errors.js";
import { Phase, type View } from "./gen/moonvale/v1/view_pb.js";

const BYTES = 32;
const DOMAIN = new TextEncoder().encode("moonvale/1/entropy");

/** Fresh entropy: 32 random bytes, to be kept secret until it is revealed. */
export function newEntropy(): Uint8Array<ArrayBuffer> {
  return crypto.getRandomValues(new Uint8Array(BYTES));
}

/**
 * What a seat commits to with its entropy: 32 bytes.
 *
 * In browsers it needs a secure context (https, localhost): a page that anybody could change on its way proves nothing.
 */
export async function entropyCommitment(entropy: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
  const content = new Uint8Array(DOMAIN.length + entropy.length);
  content.set(DOMAIN);
  content.set(entropy, DOMAIN.length);
  return new Uint8Array(await crypto.subtle.digest("SHA-256", content));
}

/**
 * Whether the viewer's seat is to reveal its entropy now; revealing it once more changes nothing.
 *
 * `commitment` is the service's, as it was shown when the seat was taken. Throws MoonvaleError if the view does not show that
 * one, or not what the seat has committed to: then nothing is to be revealed.
 */
export async function hasToReveal(
  view: View,
  entropy: Uint8Array | undefined,
  commitment: Uint8Array,
): Promise<boolean> {
  if (view.phase !== Phase.REVEALING || entropy === undefined) {
    return false;
  }
  if (!isEqual(view.commitment, commitment)) {
    throw changed(`${view.name} shows another commitment of the service's`);
  }
  const own = await entropyCommitment(entropy);
  const shown = view.seats[view.viewerSeat ?? -1]?.entropyCommitment ?? new Uint8Array();
  if (!isEqual(shown, own)) {
    throw changed(`${view.name} shows another commitment than that of seat ${view.viewerSeat}`);
  }
  return true;
}

function isEqual(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, index) => byte === other[index]);
}

function changed(what: string): MoonvaleError {
  return new MoonvaleError({ code: Code.DataLoss, message: `${what}: nothing was revealed`, isTransient: false });
}
