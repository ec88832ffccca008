// A page served by coppice view: polls the progress (draws, or steps of a fit without draws) and reloads itself when
// there is a tenth more than it shows, or when the run is done.
const interval = 2000;

export function watch(shown: number): void {
  const ask = async () => {
    try {
      const answer = await fetch("status", { cache: "no-store" });
      if (answer.ok) {
        const { done, wanted } = (await answer.json()) as { done: number; wanted: number };
        if (done > shown && (done >= 1.1 * shown || done >= wanted)) {
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
