import ControlAPI

/// A job on one line: a progress bar while it runs, its result once it has ended.
struct ProgressLine: Sendable {
  let job: Job
  var speed: RateMeter.Speed?
  /// Seconds left.
  var remaining: Double?

  init(_ job: Job, _ meter: RateMeter? = nil) {
    self.job = job
    // The daemon's own measure is there from the first line on.
    speed =
      meter?.speed ?? job.rate.map { RateMeter.Speed(bytesPerSecond: $0.bytes, recordsPerSecond: $0.records) }
    remaining = meter?.remaining(job.progress) ?? job.rate?.secondsLeft
  }

  /// The maximum width of a note; `show` prints it in full.
  private static let shownNote = 200

  /// For a terminal: `12 stops.csv  ━━━━━━────  63 %  12.4 MB/s  80,000 records/s  0:12 left`.
  func rendered(width: Int, style: Style) -> String {
    let name = self.name.truncated(to: max(width / 3, 12))
    // Each with its importance: details are dropped before the bar becomes too short to be useful.
    var facts: [(text: String, weight: Int)] = []
    let hasRecords = job.kind == "import" || job.progress.records > 0
    if let phase = job.progress.phase { facts.append((phase.printable, 2)) }
    if let percent = job.progress.percent { facts.append(("\(percent) %", 4)) }
    if let speed {
      if job.progress.bytesTotal > 0 || job.progress.recordsTotal == 0 {
        facts.append((Quantity.bytes(speed.bytesPerSecond) + "/s", 0))
      }
      if hasRecords { facts.append((Quantity.count(Int(speed.recordsPerSecond)) + " records/s", 1)) }
    } else if hasRecords {
      facts.append((Quantity.count(job.progress.records, "record"), 1))
    }
    if let remaining { facts.append((Quantity.duration(remaining) + " left", 3)) }
    var tail: String { facts.map(\.text).joined(separator: "  ") }
    while facts.count > 1, name.displayWidth + 2 + 10 + 2 + tail.displayWidth > width {
      facts.removeAll { [least = facts.map(\.weight).min()] in $0.weight == least }
    }
    let room = min(width - name.displayWidth - tail.displayWidth - 4, 40)
    guard room >= 4, let fraction = job.progress.fraction else {
      return (tail.isEmpty ? name : "\(name)  \(tail)").truncated(to: width)
    }
    return "\(name)  \(Self.bar(fraction, width: room, style))  \(tail)"
  }

  /// A bar of a given width.
  static func bar(_ fraction: Double, width: Int, _ style: Style) -> String {
    let full = min(Int((fraction * Double(width)).rounded(.down)), width)
    return style(String(repeating: style.unicode ? "━" : "#", count: full), .cyan)
      + style(String(repeating: style.unicode ? "─" : ".", count: width - full), .dim)
  }

  /// The job as text, as in a log: `12 stops.csv completed: 100 records, 98 inserted, 2 rejected, in 3.20 s`.
  /// - Parameter isBrief: whether to omit zero counts where space is short.
  func sentence(style: Style, isBrief: Bool = false) -> String {
    var text = "\(name) \(style(job.state.rawValue, Style.ink(of: job)))"
    switch job.state {
    case .running:
      var facts = [job.progress.phase?.printable].compactMap(\.self)
      if let percent = job.progress.percent, job.progress.records > 0 || !facts.isEmpty {
        facts.append("\(percent) %")
        if job.progress.records > 0 { facts.append(Quantity.count(job.progress.records, "record")) }
      }
      if !facts.isEmpty { text += ": " + facts.joined(separator: ", ") }
    case .completed:
      if job.kind == "import" || job.progress.records > 0 {
        text += ": \(Self.outcome(job.progress, of: isBrief ? "" : job.kind))"
      }
      if let start = job.startedAt, let end = job.endedAt {
        text += ", in \(Quantity.span(end.timeIntervalSince(start)))"
      }
      if let note = job.note?.printable { text += "; " + note.truncated(to: Self.shownNote) }
    case .retryable, .cancelled, .discarded:
      if let reason = job.reason { text += ": \(reason.printable)" }
    case .scheduled, .available:
      if let waitsFor = job.waitsFor { text += ", waits for \(waitsFor.namingUsers.printable)" }
    }
    return text
  }

  /// `100 records, 98 inserted, 0 updated, 2 rejected`. Zeros that matter stay.
  static func outcome(_ progress: JobProgress, of kind: String = "import") -> String {
    var parts = [Quantity.count(progress.records, "record")]
    // For an import it matters that nothing was inserted; other operations report what they did.
    let isImport = kind == "import"
    if isImport || progress.inserted > 0 { parts.append("\(Quantity.count(progress.inserted)) inserted") }
    if isImport || progress.updated > 0 { parts.append("\(Quantity.count(progress.updated)) updated") }
    if !isImport, progress.records == 0 { parts = Array(parts.dropFirst()) }
    if progress.unchanged > 0 { parts.append("\(Quantity.count(progress.unchanged)) unchanged") }
    if progress.deleted > 0 { parts.append("\(Quantity.count(progress.deleted)) deleted") }
    if progress.skipped > 0 { parts.append("\(Quantity.count(progress.skipped)) skipped") }
    if progress.rejected > 0 { parts.append("\(Quantity.count(progress.rejected)) rejected") }
    return parts.isEmpty ? "nothing to count" : parts.joined(separator: ", ")
  }

  private var name: String { "\(job.id) \(job.title)" }
}
