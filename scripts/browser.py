"""Chromium without a window, asked through its pipe: what scripts/check-pages and scripts/check-view share."""
import json
import os
import shutil
import subprocess
import sys

SCREENS = {"phone": (390, 844), "desktop": (1400, 900)}
BROWSERS = ["chromium", "chromium-browser", "google-chrome", "chrome"]


def program(asker):
    """The browser; without one this ends, well unless one is required."""
    found = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        print(f"{asker}: SKIPPED: no chromium; ORTHANT_REQUIRE_BROWSER=1 makes this a failure", file=sys.stderr)
        sys.exit(1 if os.environ.get("ORTHANT_REQUIRE_BROWSER") else 0)
    return found


class Browser:
    """Chromium behind its pipe: messages of the DevTools protocol, each closed by a zero byte."""

    def __init__(self, asker, program, profile, flags):
        self.asker = asker
        answers, theirs = os.pipe()
        ours, self.questions = os.pipe()

        def pipes():
            # The protocol is spoken on 3 and 4; out of their way first.
            read, write = os.dup(ours), os.dup(theirs)
            high = [os.dup2(read, 20), os.dup2(write, 21)]
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        always = ["--headless=new", "--no-sandbox", "--hide-scrollbars", "--remote-debugging-pipe"]
        self.process = subprocess.Popen(
            [program, *always, *flags, f"--user-data-dir={profile}"],
            preexec_fn=pipes, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(theirs)
        os.close(ours)
        self.answers, self.session, self.asked, self.events = os.fdopen(answers, "rb"), None, 0, []
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]

    def read(self):
        text = bytearray()
        while (byte := self.answers.read(1)) != b"\0":
            if not byte:
                sys.exit(f"{self.asker}: the browser is gone")
            text += byte
        return json.loads(text)

    def ask(self, method, **params):
        self.asked += 1
        message = {"id": self.asked, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.questions, json.dumps(message).encode() + b"\0")
        while (answer := self.read()).get("id") != self.asked:
            self.events.append(answer)
        if "error" in answer:
            sys.exit(f"{self.asker}: {method}: {answer['error']['message']}")
        return answer["result"]

    def evaluate(self, expression):
        """The value of an expression, waited for."""
        result = self.ask("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            details = result["exceptionDetails"]
            sys.exit(f"{self.asker}: {expression[:60]}: {details.get('exception', details).get('description', details['text'])}")
        return result["result"].get("value")

    def complaints(self):
        """What the console said since the page was shown."""
        said = [event["params"] for event in self.events if event["method"] in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown")]
        logged = [event["params"]["entry"]["text"] for event in self.events if event["method"] == "Log.entryAdded"]
        return [f"the console says {json.dumps(params)[:300]}" for params in said] + [f"the browser says {text}" for text in logged]

    def close(self):
        self.ask("Browser.close")
        self.process.wait(timeout=20)


def show(browser, page, size, scheme):
    """Shows a page on a screen of that size; the addresses beside its own that it requests."""
    width, height = size
    browser.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)
    browser.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
    for domain in ["Page", "Network", "Runtime", "Log"]:
        browser.ask(f"{domain}.enable")
    browser.events.clear()
    address = page.resolve().as_uri()
    browser.ask("Page.navigate", url=address)
    while not any(event["method"] == "Page.loadEventFired" for event in browser.events):
        browser.events.append(browser.read())
    requests = {event["params"]["request"]["url"] for event in browser.events if event["method"] == "Network.requestWillBeSent"}
    return sorted(requests - {address})
