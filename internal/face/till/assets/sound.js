// What a till says without words: a tone and a buzz. A browser that allows neither stays silent.
let context;

const tones = { found: [[880, 0, 0.07]], yes: [[660, 0, 0.1], [990, 0.11, 0.2]], no: [[220, 0, 0.18], [180, 0.2, 0.25]] };
const buzzes = { found: 30, yes: [60, 40, 120], no: [200, 80, 200] };

export function play(what) {
  try {
    const touched = navigator.userActivation?.hasBeenActive;
    if (touched !== false) navigator.vibrate?.(buzzes[what]);
    if (!touched) return; // no sound is allowed yet
    context ??= new AudioContext();
    context.resume();
    for (const [pitch, from, long] of tones[what]) tone(pitch, context.currentTime + from, long);
  } catch {
    // silent
  }
}

function tone(pitch, from, long) {
  const source = context.createOscillator();
  const loud = context.createGain();
  source.frequency.value = pitch;
  loud.gain.setValueAtTime(0.0001, from);
  loud.gain.exponentialRampToValueAtTime(0.25, from + 0.01);
  loud.gain.exponentialRampToValueAtTime(0.0001, from + long);
  source.connect(loud).connect(context.destination);
  source.start(from);
  source.stop(from + long);
}
