import ControlAPI
import FoundationEssentials

/// The view of `watch` for a terminal size: the daemon, its lanes, running jobs with progress bars, the last jobs that ended. Only
/// produces text, never wider or higher than the terminal.
///
/// If space is short, it drops ended jobs first, then lanes, then running jobs; hidden running jobs are counted.
struct WatchView: Sendable {
  let state: WatchState
  let columns: Int
  let rows: Int
  let style: Style

  /// The lines from top to bottom.
  func lines(at now: Date) -> [String] {
    guard rows > 3 else { return Array(([header(at: now)] + running(rows - 1)).prefix(max(rows, 0))) }
    // The first and last rows are the header and the key help.
    var left = rows - 2
    var body: [String] = []
    func add(_ title: String, _ lines: [String]) {
      guard !lines.isEmpty else { return }
      body += [style(title.truncated(to: columns), .bold)] + lines
      left -= lines.count + 1
    }
    // Reserve two rows for the running jobs and their title, and two for the ended ones, if there is room.
    let lanes = lanes(max(left - 4, 0) / 2)
    if lanes.count > 1 {
      body += lanes
      left -= lanes.count
    }
    let roomy = left >= 7
    if roomy {
      body.append("")
      left -= 1
    }
    add("RUNNING", running(max(left - (state.recent.isEmpty ? 1 : 3), 1)))
    if roomy, left > 3 {
      body.append("")
      left -= 1
    }
    if left > 1 { add("ENDED", recent(left - 1)) }
    let empty = Array(repeating: "", count: max(rows - 2 - body.count, 0))
    return [header(at: now)] + body.prefix(rows - 2) + empty + [keys]
  }

  private func header(at now: Date) -> String {
    let clock = Quantity.clock(now)
    let room = columns - clock.count - 2
    var text: String
    if let trouble = state.trouble {
      text = style(trouble.printable.truncated(to: max(room, 0)), .red)
    } else if let status = state.status {
      let counts = [JobState.running, .available, .scheduled, .retryable].compactMap { state in
        status.counts[state.rawValue].flatMap { $0 > 0 ? "\(Quantity.count($0)) \(state.rawValue)" : nil }
      }
      let jobs = counts.isEmpty ? "nothing to do" : counts.joined(separator: ", ")
      let up = Quantity.duration(now.timeIntervalSince(status.startedAt))
      text = style("laded \(status.version.printable), up \(up): \(jobs)".truncated(to: max(room, 0)), .bold)
    } else {
      text = ""
    }
    guard room > 0 else { return text }
    let width = state.trouble == nil && state.status == nil ? 0 : visibleWidth(text)
    text += String(repeating: " ", count: max(columns - clock.count - width, 0))
    return text + style(clock, .dim)
  }

  /// The table's heading and at most `count` lanes.
  private func lanes(_ room: Int) -> [String] {
    guard let status = state.status, room > 0 else { return [] }
    let table = StatusSheet(status: status).lanes.rendered(width: columns, style: style)
    let lines = table.split(separator: "\n").map(String.init)
    guard lines.count - 1 > room else { return lines }
    let hidden = lines.count - room
    return lines.prefix(room) + [style("and \(Quantity.count(hidden, "more lane"))".truncated(to: columns), .dim)]
  }

  private func running(_ room: Int) -> [String] {
    let jobs = state.running
    guard room > 0 else { return [] }
    guard !jobs.isEmpty else {
      return [style((state.trouble == nil ? "nothing" : "not known").truncated(to: columns), .dim)]
    }
    let shown = jobs.count > room ? room - 1 : jobs.count
    let lines = jobs.prefix(shown).map { job in
      ProgressLine(job, state.meters[job.id]).rendered(width: columns, style: style)
    }
    guard shown < jobs.count else { return lines }
    return lines + [style("and \(Quantity.count(jobs.count - shown)) more".truncated(to: columns), .dim)]
  }

  private func recent(_ room: Int) -> [String] {
    state.recent.prefix(max(room, 0)).map { job in
      let line = ProgressLine(job)
      let time = job.endedAt.map { Quantity.clock($0) + "  " } ?? ""
      // Truncate before colouring, since escape sequences have no width and must stay whole.
      let plain = (time + line.sentence(style: .plain, isBrief: true)).truncated(to: columns)
      let state = job.state.rawValue
      guard let range = plain.firstRange(of: " \(state)") else { return plain }
      return plain.replacing(" \(state)", with: " " + style(state, Style.ink(of: job.state)), subrange: range)
    }
  }

  private var keys: String { style("q leaves; the jobs go on".truncated(to: columns), .dim) }

  /// The columns of a text in one colour.
  private func visibleWidth(_ text: String) -> Int {
    guard text.hasPrefix("\u{1B}["), let start = text.firstIndex(of: "m") else { return text.displayWidth }
    return text[text.index(after: start)...].replacing("\u{1B}[0m", with: "").displayWidth
  }
}
