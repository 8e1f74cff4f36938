import ArgumentParser
import ControlAPI

extension Ladectl {
  /// `ladectl store`: commands for data stores and their maintenance.
  struct StoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "store", abstract: "Show, check, back up and maintain the stores.",
      discussion: """
        Each verb except list, show, versions and backups submits a job, by default in the lane 'maintenance'. A job that needs \
        exclusive access waits for running imports, and later imports wait for it.
        """,
      subcommands: [
        List.self, Show.self, Versions.self, Check.self, Backup.self, Backups.self, Restore.self, Vacuum.self,
        Optimise.self, Checkpoint.self,
        Reindex.self, Migrate.self, Revert.self,
      ], defaultSubcommand: List.self)

    /// `ladectl store list`.
    struct List: ControlCommand {
      static let configuration = verb("list", "Show the stores and how large they are.", json: .document("a StoreList"))

      @OptionGroup var output: OutputOptions
      @OptionGroup var connection: ConnectionOptions

      func run(_ session: Session) async throws {
        let list = try await session.client.stores(StoreCountQuery(counts: false))
        try session.report(list) {
          TextTable(
            columns: [
              .init("STORE"), .init("SIZE", .right), .init("WAL", .right), .init("ENTITIES", .right),
              .init("PATH", cut: .middle), .init("MODEL", cut: .middle, rank: 1),
            ],
            rows: list.stores.map { store in
              [
                .init(store.name), .init(Quantity.bytes(Double(store.size))),
                .init(Quantity.bytes(Double(store.walSize))), "\(store.entities.count)", .init(store.path),
                .init(store.model),
              ]
            }
          ).rendered(width: session.terminal.width, style: session.terminal.style)
        }
      }
    }

    /// `ladectl store show`.
    struct Show: ControlCommand {
      static let configuration = verb(
        "show", "Show a store's entities, how many objects each has, and their properties.", json: .document("a Store"))

      @Argument(help: "The store; may be omitted if there is only one.", completion: .stores)
      var store: String?

      @Flag(help: "Count objects even if that takes a while.")
      var count = false

      @OptionGroup var output: OutputOptions
      @OptionGroup var connection: ConnectionOptions

      func run(_ session: Session) async throws {
        let name = try await session.client.storeName(store, having: nil) ?? ""
        let store = try await session.client.store(name, StoreCountQuery(counts: count ? true : nil))
        try session.report(store) {
          let style = session.terminal.style
          let size =
            "\(Quantity.bytes(Double(store.size))), and \(Quantity.bytes(Double(store.walSize))) of write-ahead log"
          let entities = TextTable(
            columns: [.init("ENTITY"), .init("OBJECTS", .right), .init("PROPERTIES")],
            rows: store.entities.map { entity in
              [
                .init(entity.isAbstract ? entity.name + " (abstract)" : entity.name),
                .init(entity.count.map { Quantity.count($0) } ?? "?"), .init(entity.properties.joined(separator: ", ")),
              ]
            })
          return style("Store \(store.name.printable)", .bold) + "\n  \(store.path.printable), \(size)\n"
            + "  model \(store.model.printable)\n\n" + entities.rendered(width: session.terminal.width, style: style)
        }
        if !session.json, store.entities.contains(where: { $0.count == nil }) {
          session.remark("objects weren't counted, as the store is large: --count counts them")
        }
      }
    }
  }
}
