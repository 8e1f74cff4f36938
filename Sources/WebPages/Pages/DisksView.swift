import ControlAPI
import LadeTypes

/// How full the file systems are: a part of the first page.
struct DisksView {
  let disks: [DiskUse]

  @HTMLBuilder
  var section: HTML {
    HTML.element("h2") { "Disks" }
    if disks.isEmpty {
      HTML.element("p") { "They can't be asked: see the log." }
    } else {
      HTML.table(
        "Disks",
        columns: [HTML.column("What is on it")]
          + ["Free", "Used", "Of", "Files that can be made"].map(HTML.numberColumn) + [HTML.column("State")],
        rows: disks.map { disk in
          HTML.element("tr") {
            HTML.element("th", .other("scope", "row")) { HTML.name(disk.parts.joined(separator: ", ")) }
            HTML.element("td", .style("number")) { Quantity.bytes(Double(disk.free)) }
            HTML.element("td", .style("number")) { Quantity.bytes(Double(max(0, disk.size - disk.free))) }
            HTML.element("td", .style("number")) { Quantity.bytes(Double(disk.size)) }
            HTML.element("td", .style("number")) { disk.inodes > 0 ? HTML.count(disk.freeInodes) : HTML("–") }
            HTML.element("td") { state(of: disk) }
          }
        })
    }
  }

  /// Of old figures nothing follows.
  private func state(of disk: DiskUse) -> String {
    if disk.size == 0 { return "unknown" }
    if let age = disk.age { return "unknown: \(Quantity.span(age)) ago it was so" }
    return disk.problem == nil ? "enough" : "short"
  }
}
