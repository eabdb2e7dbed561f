"""A Chromium that looks at the console, and what it complains about. Without Chromium and its driver there is none."""
import hashlib
import os
import pathlib
import shutil
import subprocess

try:
    from selenium import webdriver
    from selenium.webdriver.common.by import By
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.support.ui import WebDriverWait
except ImportError:
    webdriver = None

WAIT = 60  # Seconds, for a slow machine; nothing waits that long.
AXE = "axe-core@4.14.1"
AXE_SHA256 = "29348999450cdf2849a8e70b7912fc2da85a849da39c0d0d5394f51d4a9ed95c"

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")


def missing():
    """What the machine lacks for a browser; None if nothing."""
    lacks = [name for name, there in (("python3-selenium", webdriver), ("chromium", CHROMIUM),
                                      ("chromium-driver", DRIVER)) if not there]
    return "not installed: " + ", ".join(lacks) if lacks else None


def read_axe(folder):
    """axe-core, from the file that SLUICE_AXE names or from npm; None if neither has the expected one."""
    path = pathlib.Path(os.environ.get("SLUICE_AXE", folder / "package/axe.min.js"))
    if not path.exists() and shutil.which("npm"):
        try:
            packed = subprocess.run(["npm", "pack", "--silent", AXE], cwd=folder, timeout=WAIT,
                                    capture_output=True, text=True, check=True).stdout.split()[-1]
            shutil.unpack_archive(folder / packed, folder)
        except (subprocess.SubprocessError, OSError, IndexError):
            return None
    if not path.exists() or hashlib.sha256(path.read_bytes()).hexdigest() != AXE_SHA256:
        return None
    return path.read_text()


class Browser:
    def __init__(self):
        options = Options()
        options.binary_location = CHROMIUM
        for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
            options.add_argument(word)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(service=Service(DRIVER), options=options)
        self.driver.set_script_timeout(WAIT)
        self.quit = self.driver.quit

    def run(self, script, *values):
        return self.driver.execute_script(script, *values)

    def open(self, address, page=""):
        self.driver.get("http://%s/console/%s" % (address, page))

    def go(self, page):
        """To another page of the console, without loading it anew."""
        self.run("location.hash = arguments[0]", page)

    def until(self, what):
        return WebDriverWait(self.driver, WAIT, 0.1).until(lambda _: what())

    def text(self):
        return self.run("return document.body.innerText")

    def sees(self, *texts):
        self.until(lambda: all(text in self.text() for text in texts))

    def find(self, selector):
        return self.until(lambda: self.driver.find_elements(By.CSS_SELECTOR, selector))[0]

    def press(self, text, inside="body"):
        """The first button of that text that can be seen: found and pressed in one step, for pages are drawn anew."""
        self.until(lambda: self.run(
            "const one = [...document.querySelectorAll(arguments[0] + ' button')].find((button) =>"
            " button.textContent === arguments[1] && button.checkVisibility() && !button.disabled);"
            " one?.click(); return Boolean(one)", inside, text))

    def give_token(self, token):
        field = self.find("#token")
        field.clear()
        field.send_keys(token)
        self.press("Open the console")

    def complaints(self):
        """What its console says since this was last asked: errors of scripts, and of what the CSP forbids."""
        return [entry["message"] for entry in self.driver.get_log("browser")
                if entry["level"] in ("SEVERE", "WARNING")]
