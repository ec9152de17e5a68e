// A browser does not start a Worker on a page that is opened from a folder, and the search needs
// one. There, an iframe runs the same script in its place. No request goes to any network.
if (location.protocol === "file:") {
  const load = (inside, source) =>
    new Promise((done, failed) => {
      const script = inside.document.createElement("script");
      script.src = source;
      script.onload = done;
      script.onerror = failed;
      inside.document.body.appendChild(script);
    });

  window.Worker = window.IFrameWorker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.appendChild(frame);
      this.inside = frame.contentWindow;
      this.inside.document.open(); // otherwise Firefox replaces the document later
      this.inside.document.write("<!doctype html><body></body>");
      this.inside.document.close();
      this.inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      this.inside.importScripts = (...sources) =>
        sources.reduce(
          (before, source) => before.then(() => load(this.inside, source)),
          Promise.resolve(),
        );
      this.loaded = load(this.inside, url);
    }

    postMessage(data) {
      this.loaded.then(() => this.inside.dispatchEvent(new MessageEvent("message", { data })));
    }
  };
}
