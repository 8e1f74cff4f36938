import ControlAPI
import FoundationEssentials

/// Everything known about a job, as `ladectl show` prints it.
struct JobSheet: Sendable {
  let job: Job

  func rendered(width: Int?, style: Style) -> String {
    var text = style("Job \(job.id): \(job.title)", .bold) + "\n"
    for (label, value, ink) in lines {
      text += "  " + style(label.padded(to: 10), .dim) + "  " + style(value.printable, ink) + "\n"
    }
    guard let transitions = job.transitions, !transitions.isEmpty else { return text }
    let table = TextTable(
      columns: [.init("AT"), .init("FROM"), .init("TO"), .init("BY"), .init("REASON")],
      rows: transitions.map { step in
        [
          .init(Quantity.time(step.at)), .init(step.from?.rawValue ?? ""),
          .init(step.to.rawValue, Style.ink(of: step.to)), .init((step.by ?? "").namingUsers),
          .init(step.reason.namingUsers),
        ]
      })
    // Reasons are what users look for here, so they are never truncated.
    return text + "\n" + table.rendered(width: nil, style: style)
  }

  private var lines: [(String, String, Style.Ink?)] {
    var lines: [(String, String, Style.Ink?)] = [("state", job.state.rawValue, Style.ink(of: job))]
    if job.isHeld { lines.append(("held", "until 'ladectl release \(job.id)'", .yellow)) }
    if job.isCancelRequested, !job.state.isEnded { lines.append(("cancelled", "asked to stop", .yellow)) }
    if let waitsFor = job.waitsFor { lines.append(("waits for", waitsFor.namingUsers, .yellow)) }
    if let reason = job.reason, reason != job.note { lines.append(("reason", reason.namingUsers, nil)) }
    if let note = job.note { lines.append(("note", note, nil)) }
    lines += [
      ("work", work, nil),
      ("lane", "\(job.lane), priority \(job.priority)", nil),
    ]
    if let recipe = job.recipe { lines.append(("recipe", recipe, nil)) }
    if !job.tags.isEmpty { lines.append(("tags", job.tags.joined(separator: ", "), nil)) }
    if let batch = job.batch { lines.append(("batch", "\(batch)", nil)) }
    if let key = job.uniqueKey { lines.append(("unique by", key, nil)) }
    if let after = job.after, !after.isEmpty {
      let jobs = after.map { "job \($0.job)" + ($0.condition == .ended ? ", however that ends" : "") }
      lines.append(("after", jobs.joined(separator: "; "), nil))
    }
    lines += [
      ("attempt", "\(job.attempt) of \(job.maxAttempts)", nil),
      (
        "submitted",
        Quantity.time(job.submittedAt) + (job.submittedBy.isEmpty ? "" : " by \(job.submittedBy.namingUsers)"), nil
      ),
    ]
    if let start = job.availableAt, start > job.submittedAt, !job.state.isEnded {
      lines.append(("not before", Quantity.time(start), nil))
    }
    if let deadline = job.deadline { lines.append(("deadline", Quantity.time(deadline), nil)) }
    if let timeout = job.timeout { lines.append(("limit", "\(Quantity.seconds(timeout)) an attempt", nil)) }
    if job.rescues > 0 {
      lines.append(("rescued", "\(Quantity.count(job.rescues, "time")): the daemon ended while it ran", nil))
    }
    if let started = job.startedAt { lines.append(("started", Quantity.time(started), nil)) }
    if let ended = job.endedAt {
      let took = job.startedAt.map { ", after \(Quantity.span(ended.timeIntervalSince($0)))" } ?? ""
      lines.append(("ended", Quantity.time(ended) + took, nil))
    }
    if let phase = job.progress.phase, job.state == .running { lines.append(("at", phase, nil)) }
    if job.kind == "import" || job.progress.percent != nil { lines.append(("done", input, nil)) }
    if let rate = job.rate { lines.append(("rate", Self.text(rate), nil)) }
    lines.append(("result", ProgressLine.outcome(job.progress, of: job.kind), nil))
    if let origin = job.originSummary, let text = Self.text(origin) { lines.append(("origin", text, nil)) }
    if let change = job.change, change.refused > 0 {
      for refusal in change.refusals { lines.append(("left", "job \(refusal.job): \(refusal.reason)", .yellow)) }
    }
    if let retried = job.retryOf { lines.append(("retry of", "the rejects of job \(retried)", nil)) }
    if let open = job.openRejects {
      let state = "\(Quantity.count(open)) of \(Quantity.count(job.progress.rejected)) open"
      lines.append(("rejected", state, open > 0 ? .yellow : nil))
    }
    if let host = job.host, job.kind == "import" {
      lines.append(
        ("file", job.isFileInDatabase ? "in the database, for any host; it came to \(host)" : "on host \(host)", nil))
    }
    if let file = job.rejectsFile { lines.append(("rejects", file, job.progress.rejected > 0 ? .yellow : nil)) }
    return lines
  }

  private static func text(_ rate: CurrentRate) -> String {
    var text = Quantity.count(Int64(rate.records.rounded())) + " records/s"
    if rate.bytes > 0 { text = Quantity.bytes(rate.bytes) + "/s, " + text }
    if let left = rate.secondsLeft { text += ", \(Quantity.duration(left)) left" }
    return text
  }

  /// Nil for what other lines say.
  private static func text(_ origin: JobOrigin.Summary) -> String? {
    switch origin.kind {
    case .schedule: "schedule \(origin.name ?? "")"
    case .replay: "a replay of \(origin.name ?? "")"
    case .spool: "the spool"
    case .upload: "an upload"
    case .request, .retry: nil
    }
  }

  private var work: String {
    if job.kind == "import" { return "import into \(target) of store \(job.store ?? "")\(mode)" }
    return job.kind + (job.entity.map { " of \($0)" } ?? "")
      + (job.store.map { " on store \($0)" } ?? "")
  }

  /// A feed has one entity per file.
  private var target: String { job.entity == "*" ? "the entities of its files" : job.entity ?? "" }

  private var mode: String { job.mode.map { ", mode \($0.rawValue)" } ?? "" }

  private var input: String {
    if job.progress.bytesTotal == 0, job.progress.recordsTotal > 0 {
      let total = Quantity.count(Int(job.progress.recordsTotal), "record")
      return "\(Quantity.count(job.progress.records)) of \(total)" + (job.progress.percent.map { ", \($0) %" } ?? "")
    }
    let done = Quantity.bytes(Double(job.progress.bytesDone))
    guard let percent = job.progress.percent else { return done }
    return "\(done) of \(Quantity.bytes(Double(job.progress.bytesTotal))), \(percent) %"
  }
}
