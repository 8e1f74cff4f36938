import Foundation
import Jobs
@testable import LadeDaemon
import Testing

@Suite("Schedules of a configuration file")
struct ConfigurationScheduleTests {
  static let stores = """
    stores: {main: {path: /s/m.sqlite, model: /s/M.xcdatamodeld}}
    allowed_folders: [/srv/exports]
    recipes: {people: {store: main, entity: Person}}

    """

  @Test("are read with every key, in the configured zone")
  func everyKey() throws {
    let file = try ConfigurationFile(
      Self.stores + """
        time_zone: Europe/Berlin
        lanes: {night: {concurrency: 1}}
        schedules:
          tidy:
            calendar: [daily, "Mon..Fri 12:30 America/New_York"]
            job:
              kind: check
              store: main
              entity: Person
              lane: night
              priority: -2
              max_attempts: 1
              options: {repair: true, limit: 5, share: 0.5, names: [a, "1"], deep: {x: y}}
            catch_up: skip
            randomized_delay: 10m
            enabled: false
          people:
            calendar: 02:30
            job: {recipe: people, source: /srv/exports/people.csv}
        """)
    let configuration = try file.load()
    #expect(configuration.timeZone.name == "Europe/Berlin")
    let tidy = try #require(configuration.schedule(named: "tidy"))
    #expect(tidy.calendar.map(\.normalized) == ["*-*-* 00:00:00", "Mon..Fri *-*-* 12:30:00 America/New_York"])
    #expect(tidy.calendar.map(\.zone.name) == ["Europe/Berlin", "America/New_York"])
    #expect(tidy.catchUp == .skip && tidy.randomizedDelay == .seconds(600) && !tidy.isEnabled)
    var work = JobSubmission(kind: "check")
    work.store = "main"
    work.entity = "Person"
    work.lane = "night"
    work.priority = -2
    work.maxAttempts = 1
    work.options = [
      "repair": .bool(true), "limit": .int(5), "share": .double(0.5), "names": .list([.string("a"), .string("1")]),
      "deep": .map(["x": .string("y")]),
    ]
    #expect(tidy.work == work)
    let people = try #require(configuration.schedule(named: "people"))
    #expect(people.catchUp == .once && people.randomizedDelay == .zero && people.isEnabled)
    #expect(people.calendar.map(\.zone.name) == ["Europe/Berlin"])
    var imports = JobSubmission(kind: "import")
    imports.recipe = "people"
    imports.source = "/srv/exports/people.csv"
    #expect(people.work == imports)
  }

  /// Entries of a schedule `s` in line 5, which begin in column 7, and what is wrong there.
  static let cases: [(String, String)] = [
    (
      "calendar: Mnday 10:00, job: {kind: check}",
      "5:17: `schedules.s.calendar` can't be “Mnday 10:00”: “Mnday” isn't known; did you mean Monday?"
    ),
    (
      "calendar: [daily, 'Mon..Fri 25:00'], job: {kind: check}",
      "5:35: `schedules.s.calendar[2]` can't be “Mon..Fri 25:00”: an hour is from 0 to 23"
    ),
    (
      "calendar: daily Europe/Berlim, job: {kind: check}",
      "5:23: `schedules.s.calendar` can't be “daily Europe/Berlim”: "
        + "there is no time zone “Europe/Berlim”; did you mean Europe/Berlin?"
    ),
    (
      "calendar: [], job: {kind: check}",
      "5:17: `schedules.s.calendar` must be a list of at least one calendar expression, and is an empty list"
    ),
    (
      "job: {kind: check}",
      "5:6: `schedules.s.calendar` is missing: when it runs, such as daily or Mon..Fri 02:30"
    ),
    (
      "calendar: daily",
      "5:6: `schedules.s.job` is missing: what it does, such as {kind: check, store: main}"
    ),
    (
      "calendar: daily, job: {store: main}",
      "5:29: `schedules.s.job.kind` is missing: what is to be done, such as check; or a `recipe`, and the `source` to "
        + "import by it"
    ),
    (
      "calendar: daily, job: {kind: check, store: mian}",
      "5:50: `schedules.s.job.store` can't be “mian”; did you mean `main`?"
    ),
    (
      "calendar: daily, job: {recipe: peple, source: /srv/exports/a.csv}",
      "5:38: `schedules.s.job.recipe` can't be “peple”; did you mean `people`?"
    ),
    (
      "calendar: daily, job: {recipe: people}",
      "5:29: `schedules.s.job.source` is missing: the file to import, in one of the `allowed_folders`"
    ),
    (
      "calendar: daily, job: {recipe: people, source: /srv/people.csv}",
      "5:54: `schedules.s.job.source`: “/srv/people.csv” is in none of the `allowed_folders`: add its folder to them"
    ),
    (
      "calendar: daily, job: {kind: check, recipe: people}",
      "5:51: `schedules.s.job.recipe`: recipes are for imports, and this is check"
    ),
    (
      "calendar: daily, job: {kind: check, source: /srv/exports/a.csv}",
      "5:51: `schedules.s.job.source`: only an import has a file, and this is check"
    ),
    (
      "calendar: daily, job: {kind: check}, catch_up: twice",
      "5:54: `schedules.s.catch_up` can't be “twice”; there are: `once`, `skip`"
    ),
    (
      "calendar: daily, job: {kind: check}, overlap: skip",
      "5:44: there is no key `schedules.s.overlap`; it could be: "
        + "`calendar`, `catch_up`, `enabled`, `job`, `randomized_delay`"
    ),
    (
      "calendar: daily, job: {kind: check}, randomized_delay: 40d",
      "5:62: `schedules.s.randomized_delay` can't be “40d”: it must be from 0s to 744h"
    ),
  ]

  @Test("that are wrong are reported with their place", arguments: cases)
  func wrong(_ text: String, _ problem: String) throws {
    let file = try ConfigurationFile(Self.stores + "schedules:\n  s: {\(text)}\n")
    #expect(file.problems() == [problem])
  }

  @Test("are in a zone that there is")
  func zone() throws {
    let file = try ConfigurationFile(Self.stores + "time_zone: Berlin\n")
    #expect(
      file.problems() == [
        "4:12: `time_zone` can't be “Berlin”: there is no time zone “Berlin”; did you mean Europe/Berlin?"
      ])
  }
}
