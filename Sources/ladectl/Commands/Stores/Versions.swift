import ArgumentParser
import ControlAPI

extension Ladectl.StoreCommand {
  /// `ladectl store versions`.
  struct Versions: ControlCommand {
    static let configuration = Ladectl.verb(
      "versions", "Show the versions of a store's model, and what differs between two of them.",
      """
      Without --from and --to, the current version is compared with the one before it. It says whether a store is migrated \
      without a mapping model, and what becomes of its data.

        ladectl store versions main --from Shop --to 'Shop 2'
      """, json: .document("a ModelVersions"))

    @Argument(help: "The store; may be omitted if there is only one.", completion: .stores)
    var store: String?

    @Option(help: ArgumentHelp("The older version.", valueName: "version"))
    var from: String?

    @Option(help: ArgumentHelp("The newer version.", valueName: "version"))
    var to: String?

    @OptionGroup var output: OutputOptions
    @OptionGroup var connection: ConnectionOptions

    func run(_ session: Session) async throws {
      let name = try await session.client.storeName(store, having: nil) ?? ""
      let versions = try await session.client.modelVersions(of: name, ModelVersionQuery(from: from, to: to))
      try session.report(versions) { versions.text(session.terminal) }
    }
  }
}

extension ModelVersions {
  fileprivate func text(_ terminal: Terminal) -> String {
    var text = versions.map { $0.printable + ($0 == current ? " (current)" : "") + "\n" }.joined()
    guard let difference else { return text }
    text += "\nFrom \(difference.from.printable) to \(difference.to.printable):\n"
    if difference.changes.isEmpty {
      text += "no difference that a store would notice\n"
    } else {
      text += TextTable(
        columns: [
          .init("ENTITY"), .init("PROPERTY"), .init("DIFFERENCE", cut: .nothing), .init("BEFORE", rank: 1),
          .init("AFTER", rank: 2), .init("DATA", cut: .nothing),
        ],
        rows: difference.changes.map { change in
          [
            .init(change.entity), .init(change.property ?? "-"), .init(change.change), .init(change.old ?? ""),
            .init(change.new ?? ""), .init(change.data),
          ]
        }
      ).rendered(width: terminal.width, style: terminal.style)
    }
    if difference.others > 0 { text += "and \(difference.others) more\n" }
    text += difference.obstacles.isEmpty ? "" : "\nIt can't be migrated without a mapping model:\n"
    for obstacle in difference.obstacles { text += "  \(obstacle.printable)\n" }
    let verdict = difference.allowsLosses ? "as the configuration allows" : "which the configuration doesn't allow"
    text += difference.losses.isEmpty ? "" : "\nThis would be lost, \(verdict):\n"
    for loss in difference.losses { text += "  \(loss.printable)\n" }
    return text
  }
}
