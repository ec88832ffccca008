// A page served by coppice view: asks now and then whether there are more draws, and if so loads itself anew.
const interval = 3000;

export function watch(): void {
  let known: string | null = null;
  const ask = async () => {
    try {
      const answer = await fetch("status", { cache: "no-store" });
      const state = await answer.text();
      if (answer.ok && known !== null && state !== known) {
        location.reload();
        return;
      }
      if (answer.ok) known = state;
    } catch {
      // The server has ended; what is on the screen stays.
      return;
    }
    setTimeout(ask, interval);
  };
  void ask();
}
