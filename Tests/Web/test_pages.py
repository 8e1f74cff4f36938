#!/usr/bin/env python3
"""The web pages in a real browser, against a real daemon with real imports.

LADED and LADECTL name the programs; without them those of the debug build are taken. SCREENSHOTS names a folder in
which each page is kept as a picture, light, dark and as on a phone. Everything else is in a folder of its own. Chromium
and its driver are Debian's, because selenium would look for others in the network.
"""
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest
import urllib.parse

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / ".build/debug"
LADED = os.environ.get("LADED", str(BUILD / "laded"))
LADECTL = os.environ.get("LADECTL", str(BUILD / "ladectl"))
PATIENCE = 60
SCREENSHOTS = os.environ.get("SCREENSHOTS")
# The daemon reads variables that begin so as configuration.
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("LADE_")}
HOSTILE = "<script>document.title='run'<\u2044script><img src=x onerror=\"document.title='run'\">\u202e.csv"

MODEL = """<?xml version="1.0" encoding="UTF-8"?>
<model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
  <entity name="Person" representedClassName="Person" syncable="YES">
    <attribute name="id" attributeType="Integer 64"/>
    <attribute name="name" optional="YES" attributeType="String"/>
    <uniquenessConstraints><uniquenessConstraint><constraint value="id"/></uniquenessConstraint></uniquenessConstraints>
  </entity>
</model>
"""

CONFIGURATION = """spool: spool
state: state
socket: s
allowed_folders: [files]
web: { address: "127.0.0.1:0" }
stores: { main: { path: main.sqlite, model: People.xcdatamodel } }
recipes: { people: { store: main, entity: Person } }
"""


class Daemon:
    """A laded with a folder of its own."""

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="lade-web-"))
        (self.folder / "People.xcdatamodel").mkdir()
        (self.folder / "People.xcdatamodel/contents").write_text(MODEL)
        (self.folder / "files").mkdir()
        (self.folder / "lade.yaml").write_text(CONFIGURATION)
        self.log = open(self.folder / "log", "wb")
        self.process = None
        self.start()

    def start(self):
        words = [LADED, "--config", str(self.folder / "lade.yaml")]
        self.process = subprocess.Popen(words, stderr=self.log, env=ENVIRONMENT)
        self.ladectl("status", "--wait", "--timeout", str(PATIENCE))

    def stop(self):
        self.process.terminate()
        self.process.wait(PATIENCE)

    def ladectl(self, *arguments, expected=0):
        """Its output. An exit status other than the expected one is a failure; None for any."""
        words = [LADECTL, "--socket", str(self.folder / "s"), *arguments]
        done = subprocess.run(
            words, check=False, capture_output=True, text=True, timeout=PATIENCE + 10, env=ENVIRONMENT)
        if expected is not None and done.returncode != expected:
            raise AssertionError(f"{words}: {done.stderr}\n{(self.folder / 'log').read_text()[-2000:]}")
        return done.stdout

    def link(self):
        return self.ladectl("web").strip()

    def submit(self, name, text, *arguments):
        """Submits a file with this content; returns the job's number."""
        path = self.folder / "files" / name
        path.write_text(text)
        return json.loads(self.ladectl("--json", "submit", str(path), "--recipe", "people", *arguments))["id"]

    def close(self):
        self.stop()
        self.log.close()
        shutil.rmtree(self.folder)


def browser(has_scripts=True):
    options = Options()
    options.binary_location = "/usr/bin/chromium"
    for word in ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1200,900"]:
        options.add_argument(word)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    if not has_scripts:
        options.add_experimental_option("prefs", {"profile.managed_default_content_settings.javascript": 2})
    return webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)


class Pages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon()
        cls.addClassCleanup(cls.daemon.close)
        cls.browser = browser()
        cls.addClassCleanup(cls.browser.quit)
        cls.sign_in(cls.browser)

    @classmethod
    def sign_in(cls, driver):
        link = cls.daemon.link()
        cls.site = "{0.scheme}://{0.netloc}".format(urllib.parse.urlsplit(link))
        driver.get(link)

    def tearDown(self):
        # What the policy refuses, and what fails in our script, is in the console.
        entries = [e["message"] for e in self.browser.get_log("browser") if e["level"] == "SEVERE"]
        self.assertEqual([e for e in entries if "status of 4" not in e], [])

    def open(self, path, driver=None):
        (driver or self.browser).get(self.site + path)

    def text(self, driver=None):
        return (driver or self.browser).find_element(By.TAG_NAME, "main").text

    def wait(self, condition, driver=None):
        WebDriverWait(driver or self.browser, PATIENCE).until(lambda _: condition())

    def test_a_link_signs_in_once(self):
        self.assertEqual(self.browser.current_url, self.site + "/")
        link = self.daemon.link()
        self.assertEqual(self.browser.execute_script("return document.cookie"), "", "scripts don't see the cookie")
        other = browser()
        self.addCleanup(other.quit)
        self.open("/jobs", other)
        self.assertIn("ladectl web", self.text(other))
        other.get(link)
        self.assertEqual(other.find_element(By.TAG_NAME, "h1").text, "Overview")
        other.get(link)
        self.assertIn("works once", self.text(other))

    def test_a_page_follows_an_import_to_its_end(self):
        job = self.daemon.submit("later.csv", "id,name\n1,Ada\n2,Grace\n", "--hold")
        self.open(f"/jobs/{job}")
        self.assertIn("held", self.text())
        self.daemon.ladectl("release", str(job))
        self.wait(lambda: "completed" in self.browser.find_element(By.ID, "progress").text)
        self.assertIn("Inserted", self.text())

    def test_actions_ask_first(self):
        job = self.daemon.submit("held.csv", "id,name\n3,Joan\n", "--hold")
        self.open(f"/jobs/{job}")
        self.browser.find_element(By.LINK_TEXT, "Cancel").click()
        self.wait(lambda: self.browser.current_url.endswith("/cancel"))
        self.assertIn("state", json.loads(self.daemon.ladectl("--json", "show", str(job))))
        self.browser.find_element(By.CSS_SELECTOR, "main button").click()
        self.wait(lambda: self.browser.current_url == f"{self.site}/jobs/{job}")
        self.assertEqual(json.loads(self.daemon.ladectl("--json", "show", str(job)))["state"], "cancelled")

    def test_the_address_is_the_state(self):
        self.daemon.submit("state.csv", "id,name\n5,Jean\n", "--hold", "--tag", "x y")
        self.open("/jobs")
        field = self.browser.find_element(By.ID, "q")
        field.send_keys('tag:"x y" state:scheduled')
        field.submit()
        self.wait(lambda: "q=" in self.browser.current_url)
        self.assertIn("state.csv", self.text())
        self.browser.find_element(By.PARTIAL_LINK_TEXT, "all").click()
        self.wait(lambda: "scheduled" not in self.browser.current_url)
        self.assertIn("tag", urllib.parse.unquote(self.browser.current_url))
        self.browser.back()
        self.wait(lambda: "scheduled" in self.browser.current_url)
        self.assertEqual(self.browser.find_element(By.ID, "q").get_attribute("value"), 'tag:"x y" state:scheduled')

    def test_rejects_mark_the_faulty_cell(self):
        job = self.daemon.submit("bad.csv", "id,name\nseven,<b>Edsger</b>\n8,Barbara\n")
        # Its status says that there are rejects.
        self.daemon.ladectl("wait", str(job), expected=None)
        self.open(f"/jobs/{job}/rejects")
        self.assertEqual([m.text for m in self.browser.find_elements(By.TAG_NAME, "mark")], ["seven"])
        self.assertIn("<b>Edsger</b>", self.text())

    def test_hostile_names_are_shown_and_never_run(self):
        name = HOSTILE.replace("/", "\u2044")
        job = self.daemon.submit(name, "id,name\n9,Tony\n")
        self.daemon.ladectl("wait", str(job))
        for path in ["/jobs", f"/jobs/{job}", f"/jobs/{job}/remove", "/jobs?q=" + urllib.parse.quote(name)]:
            self.open(path)
            self.assertNotIn("run", self.browser.title)
            self.assertEqual(self.browser.find_elements(By.CSS_SELECTOR, "main script, main img"), [])

    def test_reading_and_acting_need_no_script(self):
        job = self.daemon.submit("plain.csv", "id,name\n11,Niklaus\n", "--hold")
        plain = browser(has_scripts=False)
        self.addCleanup(plain.quit)
        self.sign_in(plain)
        for path in ["/", "/jobs", f"/jobs/{job}", f"/jobs/{job}/rejects"]:
            self.open(path, plain)
            self.assertEqual(len(plain.find_elements(By.TAG_NAME, "h1")), 1)
        self.open(f"/jobs/{job}/release", plain)
        plain.find_element(By.CSS_SELECTOR, "main button").click()
        self.wait(lambda: plain.current_url == f"{self.site}/jobs/{job}", plain)
        self.daemon.ladectl("wait", str(job))

    def test_a_phone_shows_every_page_without_scrolling_sideways(self):
        self.browser.set_window_size(500, 800)
        self.addCleanup(self.browser.set_window_size, 1200, 900)
        for path in ["/", "/jobs"]:
            self.open(path)
            wide = self.browser.execute_script("return document.documentElement.scrollWidth - innerWidth")
            self.assertLessEqual(wide, 0, path)

    @unittest.skipUnless(SCREENSHOTS, "SCREENSHOTS isn't set")
    def test_screenshots(self):
        job = self.daemon.submit("people.csv", "id,name\n21,Ada\n,Grace\nsix,Joan\n22,Jean\n")
        self.daemon.ladectl("wait", str(job), expected=None)
        self.daemon.submit("next.csv", "id,name\n23,Tony\n", "--hold")
        pages = {"overview": "/", "jobs": "/jobs", "job": f"/jobs/{job}", "rejects": f"/jobs/{job}/rejects",
                 "question": f"/jobs/{job}/remove"}
        for scheme, width in [("light", 1200), ("dark", 1200), ("phone", 400)]:
            feature = {"name": "prefers-color-scheme", "value": "dark" if scheme == "dark" else "light"}
            self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
            metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": scheme == "phone"}
            self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
            for name, path in pages.items():
                self.open(path)
                self.browser.save_screenshot(f"{SCREENSHOTS}/{name}-{scheme}.png")
        self.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})

    def test_signing_out(self):
        other = browser()
        self.addCleanup(other.quit)
        self.sign_in(other)
        other.find_element(By.CSS_SELECTOR, "header button").click()
        self.wait(lambda: "signed out" in self.text(other), other)
        self.open("/", other)
        self.assertIn("isn't signed in", self.text(other))


if __name__ == "__main__":
    unittest.main()
