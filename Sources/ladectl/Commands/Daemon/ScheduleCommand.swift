import ArgumentParser
import ControlAPI

extension Ladectl {
  /// `ladectl schedule`: commands for schedules.
  struct ScheduleCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "schedule", abstract: "Show the schedules.", subcommands: [List.self],
      defaultSubcommand: List.self)

    /// `ladectl schedule list`.
    struct List: ControlCommand {
      static let configuration = verb(
        "list", "Show the schedules, with the time of the next job and the result of the last.",
        json: .document("a ScheduleList"))

      @OptionGroup var output: OutputOptions
      @OptionGroup var connection: ConnectionOptions

      func run(_ session: Session) async throws {
        let list = try await session.client.schedules()
        try session.report(list) {
          guard !list.schedules.isEmpty else { return "No schedules: the configuration's 'schedules' makes them.\n" }
          return list.table.rendered(width: session.terminal.width, style: session.terminal.style)
        }
      }
    }
  }
}

extension ScheduleList {
  fileprivate var table: TextTable {
    TextTable(
      columns: [
        .init("SCHEDULE"), .init("CALENDAR"), .init("DOES"), .init("NEXT"), .init("LAST"), .init("JOB", .right),
        .init("STATE"), .init("OUTCOME"),
      ],
      rows: schedules.map { schedule in
        let next = schedule.isEnabled ? schedule.nextAt.map(Quantity.time) ?? "never" : "switched off"
        return [
          .init(schedule.name), .init(schedule.when), .init(schedule.kind), .init(next),
          .init(schedule.lastAt.map(Quantity.time) ?? ""), .init(schedule.lastJob.map { String($0) } ?? ""),
          .init(schedule.lastState?.rawValue ?? "", schedule.lastState.flatMap { Style.ink(of: $0) }),
          .init(schedule.lastOutcome ?? ""),
        ]
      })
  }
}

extension Schedule {
  /// Its calendar expressions, each with its time zone if it has one.
  fileprivate var when: String {
    let zones = timeZones.count == calendar.count ? timeZones : Array(repeating: "", count: calendar.count)
    return zip(calendar, zones).map { expression, zone in
      zone.isEmpty || expression.hasSuffix(zone) ? expression : "\(expression) \(zone)"
    }.joined(separator: "; ")
  }
}
