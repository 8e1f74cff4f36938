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
    return style("Job \(report.job): \(count) rejected", .bold) + "\n" + groups(style: style)
      + "\nThe records are in \(file.printable): \(copy).\n"
  }

  /// The reasons, each with its first records.
  func groups(style: Style) -> String {
    var text = ""
    for group in report.groups {
      let place = group.column.isEmpty ? "" : " in \(group.column.printable)"
      text += "\n" + style("\(Quantity.count(group.count))  \(group.code.printable)\(place)", .yellow) + "\n"
      for example in group.examples {
        text += "  line \(example.line): \(example.message.printable)\n"
        text += style("    \(example.record.printable)", .dim) + "\n"
      }
      let more = group.count - Int64(group.examples.count)
      if more > 0 { text += style("  and \(Quantity.count(more)) more", .dim) + "\n" }
    }
    if report.others > 0 { text += "\n\(Quantity.count(report.others))  for other reasons\n" }
    return text
  }
}
