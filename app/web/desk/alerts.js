// What calls a person back to the page: a short tone, a count in the title, a notification of the desktop.
import { t } from "./words.js";
import { kept, keep } from "./keeping.js";

let audio;

export const sound = { on: kept("yd-desk-sound") !== "off" };
export function setSound(on) {
  sound.on = on;
  keep("yd-desk-sound", on ? "on" : "off");
  if (on) tone();
}

// Browsers let a page make a sound only after somebody touched it.
function unlock() {
  audio ||= new AudioContext();
  if (audio.state === "suspended") audio.resume();
}
for (const touch of ["pointerdown", "keydown"]) window.addEventListener(touch, unlock, { capture: true });

export function tone() {
  if (!sound.on || !audio || audio.state !== "running") return;
  for (const [pitch, start] of [[660, 0], [880, 0.12]]) {
    const wave = audio.createOscillator(), loudness = audio.createGain(), at = audio.currentTime + start;
    wave.frequency.value = pitch;
    loudness.gain.setValueAtTime(0, at);
    loudness.gain.linearRampToValueAtTime(0.12, at + 0.02);
    loudness.gain.exponentialRampToValueAtTime(0.001, at + 0.22);
    wave.connect(loudness).connect(audio.destination);
    wave.start(at);
    wave.stop(at + 0.24);
  }
}

export const notices = () => (window.isSecureContext && "Notification" in window ? Notification.permission : "none");
export const askNotices = () => Notification.requestPermission();

// kind: queue, message, transfer. No words of customers leave the page: a desktop may be seen by others.
export function alerted(kind, session, open) {
  tone();
  if (!document.hidden || notices() !== "granted") return;
  const notice = new Notification(t(`alert_${kind}`), { tag: `yd-${session}`, icon: "/web/shared/icon.svg" });
  notice.onclick = () => { window.focus(); notice.close(); open(); };
}

export function count(n) {
  document.title = n ? t("titleCount", { n, title: t("title") }) : t("title");
}
