import ControlAPI

/// The reasons for rejected records, as `ladectl rejects` prints them.
struct RejectSheet: Sendable {
  let report: RejectReport

  func rendered(style: Style) -> String {
    guard let file = report.file else { return "Job \(report.job) has rejected nothing.\n" }
    let count = Quantity.count(report.count)
    // Only the daemon may write the file, and it is incomplete while the job runs.
    let copy =
      report.isFolder
      ? "copy its files, correct them there, and submit each copy" : "copy it, correct them there, and submit the copy"
    return style("Job \(report.job): \(count) rejected\(state)", .bold) + "\n" + groups(style: style) + resolved
      + "\nThe records are in \(file.printable): \(copy).\n"
  }

  /// How many are open, once a retry has resolved some.
  private var state: String { report.resolved.isEmpty ? "" : ", \(Quantity.count(report.open)) open" }

  private var resolved: String {
    if report.resolved.isEmpty { return "" }
    let jobs = report.resolved.map { "\(Quantity.count($0.count)) by job \($0.job)" }
    return "\nResolved: \(jobs.joined(separator: ", "))\n"
  }

  /// The reasons, each with its first records.
  func groups(style: Style) -> String {
    var text = ""
    for group in report.groups {
      let place = group.column.isEmpty ? "" : " in \(group.column.printable)"
      text += "\n" + style("\(Quantity.count(group.count))  \(group.code.printable)\(place)", .yellow) + "\n"
      for example in group.examples {
        // A trial of a recipe has no job, and no numbers.
        let number = report.job > 0 ? "\(example.number), " : ""
        let resolver = example.resolvedBy.map { ", resolved by job \($0)" } ?? ""
        text += "  \(number)line \(example.line): \(example.message.printable)\(resolver)\n"
        text += style("    \(example.record.printable)", .dim) + "\n"
      }
      let more = group.count - Int64(group.examples.count)
      if more > 0 { text += style("  and \(Quantity.count(more)) more", .dim) + "\n" }
    }
    if report.others > 0 { text += "\n\(Quantity.count(report.others))  for other reasons\n" }
    return text
  }
}

extension Reject {
  /// Everything known about it, as `ladectl rejects JOB NUMBER` prints it.
  func sheet(style: Style) -> String {
    var lines = [("line", String(line))]
    if let file { lines.insert(("file", file.printable), at: 0) }
    if !column.isEmpty { lines.append(("column", column.printable)) }
    if let cell { lines.append(("bytes", "\(cell.offset) to \(cell.offset + cell.length) of the record")) }
    lines += [("code", code.printable), ("message", message.printable)]
    lines.append(("state", resolvedBy.map { "resolved by job \($0)" } ?? "open"))
    let text = lines.map { "  " + style($0.0.padded(to: 10), .dim) + "  " + $0.1 + "\n" }.joined()
    let more =
      recordBytes > record.utf8.count ? style("  … \(Quantity.bytes(Double(recordBytes))) in all", .dim) + "\n" : ""
    let shown = record.split(separator: "\n", omittingEmptySubsequences: false).map { "  \(String($0).printable)\n" }
    return style("Reject \(number)", .bold) + "\n" + text + "\n" + shown.joined() + more
  }
}
