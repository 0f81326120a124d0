// Search runs in a worker, which browsers do not start for pages opened from disk. There, this
// runs the worker's script in a hidden frame instead, which has the part of a worker's interface
// that Material for MkDocs uses.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super()
      this.waiting = [] // messages sent before the script has loaded
      const frame = document.createElement("iframe")
      frame.hidden = true
      document.body.append(frame)
      const inside = frame.contentWindow
      inside.importScripts = (...urls) => Promise.all(urls.map((each) => this.load(each)))
      inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }))
      this.inside = inside
      this.load(url).then(() => {
        this.waiting.forEach((data) => this.deliver(data))
        this.waiting = null
      })
    }

    load(url) {
      return new Promise((resolve, reject) => {
        const script = this.inside.document.createElement("script")
        script.src = url
        script.onload = resolve
        script.onerror = reject
        this.inside.document.body.append(script)
      })
    }

    deliver(data) {
      this.inside.dispatchEvent(new this.inside.MessageEvent("message", { data }))
    }

    postMessage(data) {
      if (this.waiting) this.waiting.push(data)
      else this.deliver(data)
    }

    terminate() {
      this.inside.frameElement.remove()
    }
  }
}
