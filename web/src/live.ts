// A page served by coppice view: asks now and then how many draws there are, and loads itself anew when there are a
// tenth more than it shows, or when the run is done.
const interval = 2000;

export function watch(shown: number): void {
  const ask = async () => {
    try {
      const answer = await fetch("status", { cache: "no-store" });
      if (answer.ok) {
        const { draws, wanted } = (await answer.json()) as { draws: number; wanted: number };
        if (draws > shown && (draws >= 1.1 * shown || draws >= wanted)) {
          location.reload();
          return;
        }
      }
    } catch {
      return; // the server has ended; what is on the screen stays
    }
    setTimeout(ask, interval);
  };
  void ask();
}
