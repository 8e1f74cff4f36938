import ControlAPI
import ControlServer
import Hummingbird
import LadeTypes

extension PageRoutes {
  /// The schedules, and a job of one now.
  func addSchedulePages(to router: Router<ControlContext>) {
    page(router, "/schedules") { visit in
      try visit.query().refuseNames(otherThan: [])
      let schedules = try await backend.schedules()
      return .page(SchedulesPage(schedules: schedules, mayOperate: mayOperate(visit)).page)
    }
    change(router, "/schedules/{schedule}/run") { visit in
      let name = try visit.name("schedule")
      log("run schedule \(name)", visit)
      return .redirect(.job(try await backend.run(schedule: name, by: visit.peer).id))
    }
    for action in PauseAction.allCases {
      change(router, "/schedules/{schedule}/\(action.rawValue)") { visit in
        let name = try visit.name("schedule")
        log("\(action.rawValue) schedule \(name)", visit)
        switch action {
        case .pause: _ = try await backend.pause(schedule: name, by: visit.peer)
        case .resume: _ = try await backend.resume(schedule: name, by: visit.peer)
        }
        return .redirect(.schedules)
      }
    }
  }
}

/// When which jobs are made by themselves.
struct SchedulesPage {
  let schedules: [Schedule]
  /// Whether jobs of schedules are made from here.
  let mayOperate: Bool

  var page: Page {
    Page("Schedules", .schedules, events: .all) {
      HTML.element("section", .id("schedules"), .label("Schedules"), .live) {
        if schedules.isEmpty {
          HTML.element("p") {
            "The configuration has none. A schedule is written under "
            HTML.command("schedules:")
            "."
          }
        } else {
          HTML.table(
            "Schedules",
            columns: ["Schedule", "Makes", "When", "Next", "Last", "Outcome", "Job", "Last runs"].map(HTML.column)
              + (mayOperate ? [HTML.column("Do")] : []),
            rows: schedules.map(row))
        }
      }
    }
  }

  private func row(_ schedule: Schedule) -> HTML {
    HTML.element("tr") {
      HTML.element("th", .other("scope", "row")) { HTML.name(schedule.name) }
      HTML.element("td") { HTML.name(schedule.kind) }
      HTML.element("td") { when(schedule) }
      HTML.element("td") {
        if !schedule.isEnabled {
          "switched off"
        } else if let who = schedule.pausedBy {
          HTML.element("strong") { "paused" }
          " by "
          HTML.name(who)
          if let since = schedule.pausedAt {
            " since "
            HTML.time(since)
          }
        } else {
          HTML.time(schedule.nextAt)
        }
      }
      HTML.element("td") { HTML.time(schedule.lastAt) }
      HTML.element("td") { HTML.name(schedule.lastOutcome ?? "") }
      HTML.element("td") {
        if let job = schedule.lastJob {
          HTML.job(job)
          " "
          schedule.lastState.map { HTML.state($0) }
        }
      }
      HTML.element("td") { if !schedule.recent.isEmpty { RunBars(jobs: schedule.recent.reversed()).html } }
      if mayOperate {
        HTML.element("td") {
          button("Run now", .run(schedule.name), label: "Run \(schedule.name) now")
          if schedule.isEnabled {
            let action: PauseAction = schedule.pausedBy == nil ? .pause : .resume
            button(
              action.title, .action(action, schedule: schedule.name), label: "\(action.title) \(schedule.name)")
          }
        }
      }
    }
  }

  private func button(_ title: String, _ link: PageLink, label: String) -> HTML {
    HTML.element("form", .other("method", "post"), .action(link)) {
      HTML.element("button", .other("type", "submit"), .label(label)) { HTML(title) }
    }
  }

  /// In words where it is one of the usual times, and as it is written.
  @HTMLBuilder
  private func when(_ schedule: Schedule) -> HTML {
    for (place, expression) in schedule.calendar.enumerated() {
      if place > 0 { HTML.void("br") }
      if let words = CalendarWords.words(for: expression) {
        words
        " "
      }
      HTML.command(expression)
    }
    if !schedule.timeZones.isEmpty {
      HTML.element("span", .style("note")) {
        " "
        HTML.name(schedule.timeZones.joined(separator: ", "))
      }
    }
    if schedule.catchUp == .skip { HTML.element("span", .style("note")) { " missed runs are skipped" } }
  }
}

/// Usual times of systemd's calendar syntax in words.
enum CalendarWords {
  private static let names = [
    "minutely": "every minute", "hourly": "every hour", "daily": "every day at midnight",
    "weekly": "every Monday at midnight", "monthly": "on the first of each month", "quarterly": "every quarter",
    "semiannually": "every half year", "yearly": "every year", "annually": "every year",
  ]

  private static let days = [
    "Mon": "Monday", "Tue": "Tuesday", "Wed": "Wednesday", "Thu": "Thursday", "Fri": "Friday", "Sat": "Saturday",
    "Sun": "Sunday",
  ]

  /// Words for `daily`, `*:0/15`, `07:00`, `*-*-* 07:00:00`, `Mon..Fri 07:00` and their like; nil for what needs no other
  /// words than its own.
  static func words(for expression: String) -> String? {
    let text = expression.split(separator: " ").joined(separator: " ")
    if let name = names[text.lowercased()] { return name }
    var parts = text.split(separator: " ")
    guard let last = parts.popLast(), let time = time(last) else { return nil }
    if parts.last == "*-*-*" { parts.removeLast() }
    switch parts.count {
    case 0: return time.isRepeated ? time.words : "every day " + time.words
    case 1:
      guard let days = weekdays(parts[0]) else { return nil }
      return days + (time.isRepeated ? ", " : " ") + time.words
    default: return nil
    }
  }

  private static func time(_ text: Substring) -> (words: String, isRepeated: Bool)? {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 2 || (parts.count == 3 && (parts[2] == "00" || parts[2] == "0")) else { return nil }
    if parts[0] == "*" {
      let step = parts[1].split(separator: "/", omittingEmptySubsequences: false)
      if step.count == 2, step[0] == "0" || step[0] == "00" || step[0] == "*", let minutes = Int(step[1]), minutes > 1,
        60 % minutes == 0
      {
        return ("every \(minutes) minutes", true)
      }
      guard let minute = Int(parts[1]), (0..<60).contains(minute) else { return nil }
      return (minute == 0 ? "every hour" : "every hour at minute \(minute)", true)
    }
    guard let hour = Int(parts[0]), (0..<24).contains(hour), let minute = Int(parts[1]), (0..<60).contains(minute)
    else { return nil }
    let two = { (number: Int) in number < 10 ? "0\(number)" : "\(number)" }
    return ("at \(two(hour)):\(two(minute))", false)
  }

  private static func weekdays(_ text: Substring) -> String? {
    let range = text.split(separator: ".").compactMap { days[String($0)] }
    if text.contains(".."), range.count == 2 { return range[0] + " to " + range[1] }
    let list = text.split(separator: ",", omittingEmptySubsequences: false).map { days[String($0)] }
    let known = list.compactMap { $0 }
    guard !known.isEmpty, known.count == list.count else { return nil }
    guard let last = known.last, known.count > 1 else { return "every " + known[0] }
    return known.dropLast().joined(separator: ", ") + " and " + last
  }
}
