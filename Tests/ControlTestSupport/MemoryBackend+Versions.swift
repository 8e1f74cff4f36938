package import ControlAPI
import ControlServer

extension MemoryBackend {
  package func modelVersions(of store: String, _ query: ModelVersionQuery) async throws -> ModelVersions {
    guard store == "main" else { throw ControlError.noSuchStore(store, known: ["main"]) }
    let names = ["Main", "Main 2", "Main 10"]
    for (field, name) in [("from", query.from), ("to", query.to)] {
      if let name, !names.contains(name) {
        throw ControlError.invalid(field: field, reason: "the model has no version “\(name)”")
      }
    }
    let (from, to) = (query.from ?? "Main 2", query.to ?? "Main 10")
    let changes: [ModelVersions.Change] = [
      .init(change: "added", entity: "Stop", property: "height", new: "Double, optional", data: "empty"),
      .init(change: "removed", entity: "<b>Ghost</b>", old: "entity", data: "lost"),
    ]
    return ModelVersions(
      store: store, model: "/etc/lade/Main.xcdatamodeld", versions: names, current: "Main 10",
      difference: .init(
        from: from, to: to, changes: from == to ? [] : changes,
        obstacles: from == "Main" ? ["Stop.code is new and required, and has no default: give it a default value"] : [],
        losses: from == to ? [] : ["<b>Ghost</b> isn't in the model any more"], allowsLosses: false))
  }
}
