"""A headless Chromium, driven through ChromeDriver over WebDriver HTTP: for the tests of the board and its screenshots.

Only what they need. A browser has a profile of its own in a temporary folder and ends with the `with` block.
"""
import base64
import http.client
import json
import shutil
import subprocess
import tempfile
import time

FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
         "--disable-component-update", "--disable-background-networking", "--hide-scrollbars")
KEYS = {"Escape": "\ue00c", "Tab": "\ue004", "Enter": "\ue007", "Right": "\ue014"}
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
WAIT_SECONDS = 10


def missing():
    """Why no browser can be driven here, or None."""
    absent = [name for name in ("chromedriver", "chromium") if not shutil.which(name)]
    return f"{' and '.join(absent)} not installed (Debian: apt install chromium chromium-driver)" if absent else None


STARTS = 5


class Browser:
    """One session: `go`, `script`, `keys`, `wait`, `shot`, `console`; `media` and `size` for theme and viewport."""

    def __enter__(self):
        self._loads = 0
        self._profile = tempfile.TemporaryDirectory(prefix="board-browser-", ignore_cleanup_errors=True)
        self._driven, self._at = http.client.HTTPConnection("127.0.0.1", self._started(), timeout=60), ""
        options = {"binary": shutil.which("chromium"), "args": [*FLAGS, f"--user-data-dir={self._profile.name}"]}
        try:
            made = self._send("POST", "/session", {"capabilities": {"alwaysMatch": {
                "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}}})
        except BaseException:
            self._end()
            raise
        self._at += f"/session/{made['sessionId']}"
        return self

    def __exit__(self, *_):
        try:
            self._send("DELETE", "", None)
        finally:
            self._end()

    def go(self, url):
        """Load an address anew, also where only what stands behind # is another: what stands behind ? is, then."""
        self._loads += 1
        page, sign, rest = url.partition("#")
        self._send("POST", "/url", {"url": f"{page}?load={self._loads}{sign}{rest}"})

    def script(self, text, *arguments):
        """What a function body returns, run in the page."""
        return self._send("POST", "/execute/sync", {"script": text, "args": list(arguments)})

    def keys(self, *keys):
        """Press keys one after the other where the focus is: names of KEYS, or single characters."""
        actions = [{"type": kind, "value": KEYS.get(key, key)} for key in keys for kind in ("keyDown", "keyUp")]
        self._send("POST", "/actions", {"actions": [{"type": "key", "id": "keys", "actions": actions}]})

    def wait(self, condition, what=None):
        """Wait until a JavaScript expression holds and return its value; AssertionError after some seconds."""
        until = time.monotonic() + WAIT_SECONDS
        while True:
            found = self.script(f"return ({condition})")
            if found:
                return found
            if time.monotonic() > until:
                page = self.script("return document.querySelector('main').innerText.slice(0, 400)")
                raise AssertionError(f"waited in vain for {what or condition}; the page shows: {page}")
            time.sleep(0.02)

    def size(self, width, height):
        """Set the viewport in CSS pixels; narrower than any window may be."""
        self._devtools("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                       mobile=False)

    def media(self, scheme, kind=""):
        """Set the colour scheme that the system asks for ("light" or "dark"), and the medium ("print")."""
        self._devtools("Emulation.setEmulatedMedia", media=kind,
                       features=[{"name": "prefers-color-scheme", "value": scheme}])

    def shot(self, whole=False):
        """The page as PNG bytes: what is in view, or all of it."""
        taken = self._devtools("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        return base64.b64decode(taken["data"])

    def console(self):
        """The lines that the page's console has had since the last call."""
        return [entry["message"] for entry in self._send("POST", "/se/log", {"type": "browser"})]

    def _devtools(self, command, **arguments):
        return self._send("POST", "/goog/cdp/execute", {"cmd": command, "params": arguments})

    def _started(self):
        """Start the driver and give its port; two that start at once may take each other's, so it is tried again."""
        for _ in range(STARTS):
            self._driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE,
                                            stderr=subprocess.DEVNULL, text=True)
            for line in self._driver.stdout:
                if "started successfully on port" in line:
                    return int(line.rstrip(".\n").split()[-1])
            self._driver.wait()
            self._driver.stdout.close()
        raise OSError(f"chromedriver ended {STARTS} times before it was ready")

    def _send(self, method, path, body):
        data = None if body is None else json.dumps(body).encode()
        self._driven.request(method, self._at + path, data, {"Content-Type": "application/json"})
        with self._driven.getresponse() as response:
            told = json.load(response)["value"]
        if response.status != 200:
            raise AssertionError(f"{told.get('error')}: {told.get('message', '')[:300]}")
        return told

    def _end(self):
        self._driven.close()
        self._driver.terminate()
        self._driver.wait(10)
        self._driver.stdout.close()
        self._profile.cleanup()
