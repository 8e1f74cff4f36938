#!/usr/bin/env python3
"""The web pages in a real browser, against a real daemon with real imports.

LADED and LADECTL name the programs; without them those of the debug build are taken. SCREENSHOTS names a folder in
which each page is kept as a picture, some of them also dark and as on a phone. AXE names axe-core's axe.min.js; without it, that of
Python's package axe-playwright-python is taken, if it is installed. Everything else is in a folder of its own. Chromium
and its driver are Debian's, because selenium would look for others in the network.
"""
import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest
import urllib.parse

from selenium import webdriver
from selenium.common.exceptions import WebDriverException
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select, WebDriverWait

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / ".build/debug"
LADED = os.environ.get("LADED", str(BUILD / "laded"))
LADECTL = os.environ.get("LADECTL", str(BUILD / "ladectl"))
PATIENCE = 60
SCREENSHOTS = os.environ.get("SCREENSHOTS")


def find_axe():
    """The text of axe-core, or None. The package isn't imported: it would want Playwright."""
    path = os.environ.get("AXE")
    if not path:
        package = importlib.util.find_spec("axe_playwright_python")
        if not package or not package.submodule_search_locations:
            return None
        path = os.path.join(package.submodule_search_locations[0], "axe.min.js")
    return pathlib.Path(path).read_text() if os.path.exists(path) else None


AXE = find_axe()
# The daemon reads variables that begin so as configuration.
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("LADE_")}
HOSTILE = "<script>document.title='run'<\u2044script><img src=x onerror=\"document.title='run'\">\u202e.csv"

MODEL = """<?xml version="1.0" encoding="UTF-8"?>
<model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
  <entity name="Person" representedClassName="Person" syncable="YES">
    <attribute name="id" attributeType="Integer 64"/>
    <attribute name="name" optional="YES" attributeType="String"/>
    <attribute name="born" optional="YES" attributeType="Date"/>
    <relationship name="mentor" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Person"
      inverseName="pupils" inverseEntity="Person"/>
    <relationship name="pupils" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="Person"
      inverseName="mentor" inverseEntity="Person"/>
    <uniquenessConstraints><uniquenessConstraint><constraint value="id"/></uniquenessConstraint></uniquenessConstraints>
  </entity>
</model>
"""

CONFIGURATION = """spool: spool
state: state
socket: s
allowed_folders: [files]
web: { address: "127.0.0.1:0" }
save_recipes: true
stores: { main: { path: main.sqlite, model: People.xcdatamodel } }
recipes: { people: { store: main, entity: Person, lineage: true } }
schedules: { nightly: { calendar: "Mon..Fri 02:30", job: { kind: optimise, store: main } } }
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
        # In one step, because what was found may be gone when it is read: pages are brought up to date while they are open.
        return (driver or self.browser).execute_script("return document.querySelector('main').innerText")

    def wait(self, condition, driver=None):
        # A page that is being left or brought up to date has elements that are gone when they are read, for which the
        # driver has several errors, one of them without a type of its own.
        WebDriverWait(
            driver or self.browser, PATIENCE, ignored_exceptions=[WebDriverException]
        ).until(lambda _: condition())

    def press(self, title, driver=None):
        """Presses the button with this title."""
        (driver or self.browser).find_element(By.XPATH, f"//main//button[normalize-space()='{title}']").click()

    def violations(self):
        """What axe-core finds on the page."""
        self.browser.execute_script(AXE)
        return self.browser.execute_async_script(
            "const done = arguments[0]; axe.run().then(r => done(r.violations.map(v =>"
            " v.id + ': ' + v.nodes.map(n => n.html).join(' | '))), e => done([String(e)]))")

    def pages(self):
        """Every kind of page, with something on it."""
        if not hasattr(Pages, "shown"):
            job = self.daemon.submit("people.csv", "id,name\n21,Ada\n,Grace\nsix,Joan\n22,Jean\n")
            self.daemon.ladectl("wait", str(job), expected=None)
            self.daemon.submit("next.csv", "id,name\n23,Tony\n", "--hold")
            self.open("/data/main/Person")
            row = self.browser.find_element(By.CSS_SELECTOR, "main tbody tr a").get_attribute("href")
            shown = urllib.parse.urlsplit(row).path
            Pages.shown = {
                "overview": "/", "jobs": "/jobs", "job": f"/jobs/{job}", "question": f"/jobs/{job}/remove",
                "change": "/jobs/change?q=state:scheduled&action=cancel", "rejects": f"/jobs/{job}/rejects",
                "reject": f"/jobs/{job}/rejects/1", "data": "/data", "model": "/model/main",
                "versions": "/model/main/versions", "objects": "/data/main/Person?sort=-id", "object": shown,
                "edit": shown + "/edit", "delete": shown + "/delete", "new": "/data/main/Person/new",
                "schedules": "/schedules", "stores": "/stores", "daemons": "/daemons", "help": "/help", "log": "/log", "upload": "/upload",
                "configuration": "/configuration", "mistake": "/jobs?q=colour:red",
                "nothing": "/nothing"}
        return Pages.shown

    def test_a_link_signs_in_once(self):
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

    def test_a_rejected_record_is_corrected_into_a_row(self):
        job = self.daemon.submit("wrong.csv", "id,name\nthirteen,Frances\n14,Kathleen\n")
        self.daemon.ladectl("wait", str(job), expected=None)
        self.open(f"/jobs/{job}/rejects")
        self.browser.find_element(By.PARTIAL_LINK_TEXT, "Correct").click()
        self.wait(lambda: self.browser.find_elements(By.TAG_NAME, "textarea"))
        field = self.browser.find_element(By.TAG_NAME, "textarea")
        self.assertEqual(field.get_attribute("value"), "thirteen,Frances")
        field.clear()
        field.send_keys("thirty,Frances")
        self.press("Check")
        self.wait(lambda: "thirty" in self.browser.find_element(By.TAG_NAME, "mark").text)
        field = self.browser.find_element(By.TAG_NAME, "textarea")
        field.clear()
        field.send_keys("13,Frances")
        self.press("Check")
        self.wait(lambda: "would be imported" in self.text())
        self.assertEqual(self.daemon.ladectl("count", "Person", "--where", "id == 13").strip(), "0", "only checked")
        self.press("Import it again")
        self.wait(lambda: self.browser.current_url.split("/")[-1].isdigit() and f"/{job}/" not in self.browser.current_url)
        self.wait(lambda: "completed" in self.browser.find_element(By.ID, "progress").text)
        self.assertEqual(self.daemon.ladectl("count", "Person", "--where", "id == 13").strip(), "1")
        self.open(f"/jobs/{job}/rejects")
        self.assertIn("1 resolved by job", self.text())

    def test_objects_are_found_and_say_where_they_come_from(self):
        job = self.daemon.submit("data.csv", "id,name\n501,Alan\n502,<i>Alonzo</i>\n")
        self.daemon.ladectl("wait", str(job))
        self.open("/data")
        self.browser.find_element(By.LINK_TEXT, "Person").click()
        self.wait(lambda: self.browser.current_url.endswith("/data/main/Person"))
        field = self.browser.find_element(By.NAME, "where")
        field.send_keys("id > 500 AND id < 503")
        field.submit()
        self.wait(lambda: "where=" in self.browser.current_url)
        self.assertIn("<i>Alonzo</i>", self.text())
        self.assertEqual(len(self.browser.find_elements(By.CSS_SELECTOR, "main tbody tr")), 2)
        self.browser.find_element(By.CSS_SELECTOR, "main tbody tr a").click()
        self.wait(lambda: "/data/main/Person/" in self.browser.current_url)
        self.assertIn("data.csv", self.text())
        self.assertIn("line 2", self.text())
        self.open("/data/main/Person?where=" + urllib.parse.quote("nobody == 3"))
        self.assertIn("nobody", self.browser.find_element(By.CSS_SELECTOR, "main [role=alert]").text)

    def person(self, number):
        """The page of a person by its key."""
        self.open("/data/main/Person?where=" + urllib.parse.quote(f"id == {number}"))
        return self.browser.find_element(By.CSS_SELECTOR, "main tbody tr a").get_attribute("href")

    def field(self, name):
        """The field that has this label."""
        label = self.browser.find_element(By.XPATH, f"//main//label[normalize-space()='{name}']")
        return self.browser.find_element(By.ID, label.get_attribute("for"))

    def test_an_object_is_edited(self):
        job = self.daemon.submit("edit.csv", "id,name\n801,Ada\n802,Grace\n")
        self.daemon.ladectl("wait", str(job))
        page = self.person(801)
        self.browser.get(page)
        self.browser.find_element(By.LINK_TEXT, "Edit").click()
        self.field("id").clear()
        self.field("id").send_keys("802")
        self.press("Check")
        self.wait(lambda: "unique" in self.browser.find_element(By.CSS_SELECTOR, "main [role=alert]").text)
        self.field("id").clear()
        self.field("id").send_keys("9007199254740993")
        self.field("name").clear()
        self.field("name").send_keys("Ada <b>Lovelace</b>")
        self.field("born").send_keys("1815-12-10T00:00:00Z")
        self.field("mentor").send_keys("802")
        self.press("Save")
        self.wait(lambda: self.browser.current_url == page)
        for words in ["9007199254740993", "Ada <b>Lovelace</b>", "1815-12-10T00:00:00Z", "802", "edit"]:
            self.assertIn(words, self.text())
        found = json.loads(self.daemon.ladectl(
            "--json", "count", "Person", "--where", "id == 9007199254740993 AND mentor.id == 802"))
        self.assertEqual(found["count"], 1)

    def test_a_conflict_is_shown_and_resolved(self):
        job = self.daemon.submit("conflict.csv", "id,name\n811,Ada\n")
        self.daemon.ladectl("wait", str(job))
        page = self.person(811)
        self.browser.get(page + "/edit")
        number = page.rsplit("/", 1)[1]
        self.daemon.ladectl("edit", "Person", number, "name=theirs", "born=1900-01-01T00:00:00Z", "--wait")
        self.field("name").clear()
        self.field("name").send_keys("mine")
        self.press("Save")
        self.wait(lambda: self.browser.find_element(By.ID, "conflict"))
        for words in ["Ada", "mine", "theirs", "1900-01-01T00:00:00Z"]:
            self.assertIn(words, self.text())
        if AXE:
            self.browser.execute_script(AXE)
            found = self.browser.execute_async_script(
                "const done = arguments[0]; axe.run().then(r => done(r.violations.map(v => v.id)), e => done([String(e)]))")
            self.assertEqual(found, [])
        self.press("Save")
        self.wait(lambda: self.browser.current_url == page)
        # What only they have changed stays theirs.
        found = json.loads(self.daemon.ladectl(
            "--json", "count", "Person", "--where", "id == 811 AND name == 'mine' AND born != NIL"))
        self.assertEqual(found["count"], 1)

    def test_a_live_table_gains_a_row(self):
        self.open("/data/main/Person?where=" + urllib.parse.quote("id > 820 AND id < 830"))
        self.wait(lambda: "No object matches" in self.browser.find_element(By.ID, "objects").text)
        self.browser.execute_script("window.isSame = true")
        job = self.daemon.submit("live.csv", "id,name\n821,Barbara\n")
        self.daemon.ladectl("wait", str(job))
        self.wait(lambda: "Barbara" in self.browser.find_element(By.ID, "objects").text)
        self.wait(lambda: self.browser.find_element(By.CSS_SELECTOR, "#objects tr.changed"))
        self.assertTrue(self.browser.execute_script("return window.isSame"), "the page wasn't loaded again")

    def test_a_file_is_uploaded_tried_and_imported(self):
        rows = "".join(f"{number},Name {number} {'x' * 40}\n" for number in range(10_000, 60_000))
        path = self.daemon.folder / "uploaded.csv"
        path.write_text("id,name\n" + rows)
        self.assertGreater(path.stat().st_size, 2 << 20, "several parts")
        self.open("/upload")
        self.browser.find_element(By.ID, "files").send_keys(str(path))
        self.press("Send")
        self.wait(lambda: self.browser.current_url.split("/")[-1].isdigit())
        self.assertIn("10000,Name 10000", self.text())
        self.press("Try it")
        self.wait(lambda: "would do with its beginning" in self.text())
        self.assertEqual(self.daemon.ladectl("count", "Person", "--where", "id == 10000").strip(), "0", "only tried")
        self.press("Import it by people")
        self.wait(lambda: "/jobs/" in self.browser.current_url)
        self.wait(lambda: "completed" in self.browser.find_element(By.ID, "progress").text)
        counted = self.daemon.ladectl("count", "Person", "--where", "id >= 10000 AND id < 60000")
        self.assertEqual(counted.strip(), "50000")
        self.open("/upload")
        self.assertNotIn("uploaded.csv", self.text())

    def test_several_files_are_dropped_and_one_is_refused(self):
        self.open("/upload")
        self.browser.execute_script('''
          const data = new DataTransfer();
          for (const [name, text] of [["one.csv", "id,name\\n801,Ada\\n"], ["none.csv", ""],
                                      ["two.csv", "id,name\\n802,Joan\\n"]]) {
            data.items.add(new File([text], name, {lastModified: 5}));
          }
          const event = {dataTransfer: data, bubbles: true, cancelable: true};
          document.querySelector("main").dispatchEvent(new DragEvent("drop", event));''')
        lines = lambda: [item.text for item in self.browser.find_elements(By.CSS_SELECTOR, "#sending li")]
        self.wait(lambda: sum("Look at it" in line for line in lines()) == 2)
        one, none, two = lines()
        self.assertIn("one.csv", one)
        self.assertIn("none.csv", none)
        self.assertIn("empty", none)
        self.assertNotIn("Look at it", none)
        self.assertIn("two.csv", two)
        self.assertIn("none.csv", self.browser.find_element(By.ID, "sent").text)
        self.open("/upload")
        table = self.text()
        self.assertIn("one.csv", table)
        self.assertIn("two.csv", table)
        self.assertNotIn("none.csv", table)

    def test_a_trial_shows_what_would_be_changed(self):
        job = self.daemon.submit("before.csv", "id,name\n811,Ada\n")
        self.daemon.ladectl("wait", str(job))
        path = self.daemon.folder / "after.csv"
        path.write_text("id,name\n811,Augusta\n812,Grace\n")
        self.open("/upload")
        self.browser.find_element(By.ID, "files").send_keys(str(path))
        self.press("Send")
        self.wait(lambda: self.browser.current_url.split("/")[-1].isdigit())
        self.press("Try it")
        self.wait(lambda: "What would be changed" in self.text())
        row = self.browser.find_element(By.XPATH, "//tr[th[contains(., '811')]]").text
        self.assertIn("Ada", row)
        self.assertIn("Augusta", row)
        self.assertIn("Grace", self.text())

    def test_foreign_columns_are_mapped_previewed_saved_and_imported(self):
        path = self.daemon.folder / "foreign.csv"
        path.write_text("Nr.;Voller Name;Geboren;Farbe\n70001;Zuse;22.06.1910;rot\n70002;k. A.;;blau\n")
        self.open("/upload")
        self.browser.find_element(By.ID, "files").send_keys(str(path))
        self.press("Send")
        self.wait(lambda: self.browser.current_url.split("/")[-1].isdigit())
        self.browser.find_element(By.LINK_TEXT, "Map the columns").click()
        self.press("Map the columns")
        preview = lambda: self.browser.find_element(By.ID, "preview").text
        self.wait(lambda: "Required, and without a column: id" in preview())
        for name, value in [("id", "Nr."), ("name", "Voller Name"), ("born", "Geboren")]:
            Select(self.browser.find_element(By.NAME, f"{name}:column")).select_by_visible_text(value)
        self.wait(lambda: "Columns that nothing takes: Farbe" in preview())
        self.assertIn("not_a_date", preview())
        for name, text in [("born", "dd.MM.yyyy"), ("name", "k. A.")]:
            row = self.browser.find_element(By.NAME, f"{name}:column").find_element(By.XPATH, "./ancestor::tr")
            row.find_element(By.TAG_NAME, "summary").click()
            row.find_element(By.NAME, f"{name}:{'date_format' if name == 'born' else 'nulls'}").send_keys(text)
        self.wait(lambda: "1910-06-22" in preview() and "null" in preview())
        self.assertNotIn("not_a_date", preview())
        self.assertIn("column: Voller Name", preview().replace('"', ""))
        self.assertIn("date_format", self.browser.current_url, "the address is the state")
        self.addCleanup(self.browser.execute_cdp_cmd, "Emulation.setEmulatedMedia", {"features": []})
        for scheme in ["light", "dark"] if AXE else []:
            feature = {"name": "prefers-color-scheme", "value": scheme}
            self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
            self.assertEqual(self.violations(), [], scheme)
        self.browser.set_window_size(500, 800)
        self.addCleanup(self.browser.set_window_size, 1200, 900)
        wide = self.browser.execute_script("return document.documentElement.scrollWidth - innerWidth")
        self.assertLessEqual(wide, 0, "nothing is beside a phone's screen")
        self.browser.refresh()
        self.wait(lambda: "1910-06-22" in preview())
        self.browser.find_element(By.ID, "name").send_keys("foreign")
        self.press("Save it")
        self.wait(lambda: "Import it by foreign" in self.text())
        self.assertEqual(self.daemon.ladectl("count", "Person", "--where", "id IN {70001, 70002}").strip(), "0", "only tried")
        self.press("Change its mapping")
        self.wait(lambda: "1910-06-22" in preview())
        self.assertEqual(self.browser.find_element(By.ID, "name").get_attribute("value"), "foreign")
        self.browser.back()
        self.wait(lambda: "Import it by foreign" in self.text())
        self.press("Import it by foreign")
        self.wait(lambda: "/jobs/" in self.browser.current_url)
        self.wait(lambda: "completed" in self.browser.find_element(By.ID, "progress").text)
        where = ["--where", "id == 70001 AND name == 'Zuse' OR id == 70002 AND name == nil"]
        self.assertEqual(self.daemon.ladectl("count", "Person", *where).strip(), "2")

    def test_a_store_is_restored_after_its_name_was_typed(self):
        job = self.daemon.submit("kept.csv", "id,name\n821,Ada\n")
        self.daemon.ladectl("wait", str(job))
        self.daemon.ladectl("store", "backup", "main", "--wait")
        job = self.daemon.submit("lost.csv", "id,name\n822,Joan\n")
        self.daemon.ladectl("wait", str(job))
        self.open("/stores")
        self.browser.find_element(By.LINK_TEXT, "Restore…").click()
        self.wait(lambda: "/restore" in self.browser.current_url)
        self.assertIn("lost.csv", self.text())
        field = self.browser.find_element(By.ID, "confirmation")
        field.send_keys("mian")
        self.press("Restore it")
        self.wait(lambda: "nothing was done" in self.text())
        self.browser.find_element(By.ID, "confirmation").send_keys("main")
        self.press("Restore it")
        self.wait(lambda: "/jobs/" in self.browser.current_url)
        self.wait(lambda: "completed" in self.browser.find_element(By.ID, "progress").text)
        self.assertEqual(self.daemon.ladectl("count", "Person", "--where", "id == 821").strip(), "1")
        self.assertEqual(self.daemon.ladectl("count", "Person", "--where", "id == 822").strip(), "0")

    def test_keys_lead_to_pages_but_not_while_somebody_types(self):
        keys = lambda text: ActionChains(self.browser).send_keys(text).perform()

        def wait_for(path):
            # A page has its keys when it is complete.
            state = "return document.readyState"
            self.wait(lambda: self.browser.current_url == self.site + path
                      and self.browser.execute_script(state) == "complete")

        self.open("/schedules")
        keys("gj")
        wait_for("/jobs")
        keys("/")
        field = self.browser.switch_to.active_element
        self.assertEqual(field.get_attribute("id"), "q")
        keys("god?/")
        self.assertEqual(field.get_attribute("value"), "god?/")
        self.assertEqual(self.browser.current_url, self.site + "/jobs")
        for pressed, path in [("gd", "/data"), ("go", "/"), ("?", "/help")]:
            self.open("/log")
            keys(pressed)
            wait_for(path)
        keys("/")
        wait_for("/jobs#q")
        self.wait(lambda: self.browser.switch_to.active_element.get_attribute("id") == "q")
        self.open("/help")
        self.browser.find_element(By.ID, "keys").click()
        self.addCleanup(self.browser.execute_script, "localStorage.clear()")
        keys("gj")
        self.assertEqual(self.browser.current_url, self.site + "/help")
        self.browser.find_element(By.ID, "keys").click()
        keys("gj")
        wait_for("/jobs")

    def test_the_keyboard_reaches_everything_and_shows_where_it_is(self):
        where = '''
          const element = document.activeElement, style = getComputedStyle(element);
          return [element === document.body ? "" : element.outerHTML, style.outlineStyle, element.getBoundingClientRect().width]'''
        for name, path in self.pages().items():
            with self.subTest(page=name):
                self.open(path)
                ActionChains(self.browser).send_keys(Keys.TAB).perform()
                first = self.browser.execute_script(where)
                self.assertIn("skip", first[0])
                seen = 0
                for _ in range(60):
                    shown, outline, width = self.browser.execute_script(where)
                    if not shown or (seen and shown == first[0]):
                        break
                    self.assertNotEqual(outline, "none", shown)
                    self.assertGreater(width, 0, shown)
                    seen += 1
                    ActionChains(self.browser).send_keys(Keys.TAB).perform()
                self.assertGreater(seen, 3)
        self.open("/jobs")
        ActionChains(self.browser).send_keys(Keys.TAB, Keys.ENTER).perform()
        self.assertEqual(self.browser.switch_to.active_element.get_attribute("id"), "content")

    def test_a_search_is_completed_by_keys_and_by_the_pointer(self):
        self.open("/jobs")
        field = self.browser.find_element(By.ID, "q")
        self.assertEqual(field.get_attribute("role"), "combobox")
        options = "[role=option]"

        def shown():
            return [option.text.split()[0] for option in self.browser.find_elements(By.CSS_SELECTOR, options)]

        field.send_keys("sta")
        self.wait(lambda: shown() == ["state:"])
        self.assertEqual(field.get_attribute("aria-expanded"), "true")
        field.send_keys(Keys.ARROW_DOWN)
        chosen = self.browser.find_element(By.CSS_SELECTOR, "[role=option][aria-selected=true]")
        self.assertEqual(field.get_attribute("aria-activedescendant"), chosen.get_attribute("id"))
        field.send_keys(Keys.ENTER)
        # A name is followed by its values at once.
        self.wait(lambda: "completed" in shown())
        self.assertEqual(field.get_attribute("value"), "state:")
        field.send_keys(Keys.ESCAPE)
        self.assertEqual(field.get_attribute("aria-expanded"), "false")
        self.assertEqual(field.get_attribute("value"), "state:")
        field.send_keys("comp")
        self.wait(lambda: shown() == ["completed"])
        self.browser.find_element(By.CSS_SELECTOR, options).click()
        self.assertEqual(field.get_attribute("value"), "state:completed")
        self.assertEqual(self.browser.switch_to.active_element, field)
        # With nothing chosen, the key sends the search.
        field.send_keys(Keys.ENTER)
        self.wait(lambda: "q=state" in self.browser.current_url)

    def test_many_jobs_are_changed_at_once(self):
        for number in range(3):
            self.daemon.submit(f"many-{number}.csv", f"id,name\n{600 + number},Edith\n", "--hold", "--tag", "many")
        self.open("/jobs?q=tag:many")
        self.browser.find_element(By.CSS_SELECTOR, "#action option[value=cancel]").click()
        self.press("Go on…")
        self.wait(lambda: "/jobs/change" in self.browser.current_url)
        self.press("Cancel them all")
        # A job does it, whose page follows it without being reloaded.
        self.wait(lambda: "completed" in self.browser.find_element(By.ID, "progress").text)
        self.assertIn("3 jobs were cancelled", self.text())
        jobs = json.loads(self.daemon.ladectl("--json", "list", "--tag", "many"))["jobs"]
        self.assertEqual([job["state"] for job in jobs], ["cancelled"] * 3)

    def test_two_tabs_follow_by_one_stream(self):
        first = self.daemon.submit("one.csv", "id,name\n701,Adele\n", "--hold")
        self.open(f"/jobs/{first}")
        second = self.browser.current_window_handle
        self.browser.switch_to.new_window("tab")
        self.addCleanup(self.browser.switch_to.window, second)
        self.addCleanup(self.browser.close)
        self.open("/jobs?q=tag:never")
        self.open(f"/jobs/{first}")
        self.daemon.ladectl("release", str(first))
        self.wait(lambda: "completed" in self.browser.find_element(By.ID, "progress").text)
        self.browser.switch_to.window(second)
        self.wait(lambda: "completed" in self.browser.find_element(By.ID, "progress").text)
        self.browser.switch_to.window(self.browser.window_handles[-1])

    def test_a_page_outlives_a_restart_of_the_daemon(self):
        daemon = Daemon()
        self.addCleanup(daemon.close)
        other = browser()
        self.addCleanup(other.quit)
        other.get(daemon.link())
        daemon.stop()
        daemon.start()
        # The port may be another one now, and the session has ended: nothing breaks, and a new link signs in again.
        other.get(daemon.link())
        self.assertEqual(other.find_element(By.TAG_NAME, "h1").text, "Overview")

    @unittest.skipUnless(AXE, "there is no axe-core (pip install --no-deps axe-playwright-python)")
    def test_every_page_is_accessible_light_and_dark(self):
        for scheme in ["light", "dark"]:
            feature = {"name": "prefers-color-scheme", "value": scheme}
            self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
            self.addCleanup(self.browser.execute_cdp_cmd, "Emulation.setEmulatedMedia", {"features": []})
            for name, path in self.pages().items():
                with self.subTest(page=name, scheme=scheme):
                    self.open(path)
                    self.assertEqual(self.violations(), [])

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
        for path in self.pages().values():
            self.open(path, plain)
            self.assertEqual(len(plain.find_elements(By.TAG_NAME, "h1")), 1)
        self.open(f"/jobs/{job}/release", plain)
        plain.find_element(By.CSS_SELECTOR, "main button").click()
        self.wait(lambda: plain.current_url == f"{self.site}/jobs/{job}", plain)
        self.daemon.ladectl("wait", str(job))

    def test_a_phone_shows_every_page_without_scrolling_sideways(self):
        self.browser.set_window_size(500, 800)
        self.addCleanup(self.browser.set_window_size, 1200, 900)
        for path in self.pages().values():
            self.open(path)
            wide = self.browser.execute_script("return document.documentElement.scrollWidth - innerWidth")
            self.assertLessEqual(wide, 0, path)

    @unittest.skipUnless(SCREENSHOTS, "SCREENSHOTS isn't set")
    def test_screenshots(self):
        pages = self.pages()
        for scheme, width, names in [
            ("light", 1200, pages), ("dark", 1200, ["overview", "job"]), ("phone", 400, ["jobs", "reject"])]:
            feature = {"name": "prefers-color-scheme", "value": "dark" if scheme == "dark" else "light"}
            self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
            metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": scheme == "phone"}
            self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
            for name in names:
                self.open(pages[name])
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
