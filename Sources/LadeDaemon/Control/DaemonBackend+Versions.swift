import ControlAPI
import ControlServer
import Dispatch
import Foundation
import ManagedObjects

extension DaemonBackend {
  /// Reading models takes the disk and a core.
  private static let modelQueue = DispatchQueue(label: "control.models")
  /// Differences that are listed, at most.
  private static let mostChanges = 1000

  func modelVersions(of name: String, _ query: ModelVersionQuery) async throws -> ModelVersions {
    guard let store = stores[name] else {
      throw ControlError.noSuchStore(name, known: stores.all.map(\.configuration.name))
    }
    let configuration = store.configuration
    return try await Self.modelQueue.result {
      do {
        return try Self.versions(of: configuration, query)
      } catch let error as ModelError {
        throw ControlError.conflict(
          reason: "The model of store \(name) can't be read: \(error)",
          hint: "'ladectl config check' checks all models.")
      }
    }
  }

  private static func versions(of store: StoreConfiguration, _ query: ModelVersionQuery) throws -> ModelVersions {
    let url = URL(fileURLWithPath: store.model)
    let files = try ManagedObjectModel.versions(of: url)
    let names = files.keys.sorted { $0.compare($1, options: .numeric) == .orderedAscending }
    let current = try currentVersion(of: url, files)
    func name(_ wanted: String, _ key: String) throws -> String {
      guard files[wanted] != nil else {
        throw ControlError.invalid(
          field: key, reason: "the model has no version “\(wanted)”; there is \(names.joined(separator: ", "))")
      }
      return wanted
    }
    var answer = ModelVersions(store: store.name, model: store.model, versions: names, current: current)
    guard let to = try query.to.map({ try name($0, "to") }) ?? current ?? names.last,
      let from = try query.from.map({ try name($0, "from") }) ?? earlier(than: to, among: names)
    else { return answer }
    answer.difference = try difference(from, to, files, store)
    return answer
  }

  private static func difference(
    _ from: String, _ to: String, _ files: [String: URL], _ store: StoreConfiguration
  ) throws -> ModelVersions.Difference? {
    guard let old = files[from], let new = files[to] else { return nil }
    let found = ModelVersionDifference(
      from: try ManagedObjectModel(contentsOf: old), to: try ManagedObjectModel(contentsOf: new))
    var allowsLosses = true
    do {
      var options = store.migration.options
      options.migrationWarningHandler = { _ in }
      try options.accept(found.losses, store: store.place.shown)
    } catch is MigrationError {
      allowsLosses = false
    }
    return ModelVersions.Difference(
      from: from, to: to, changes: found.changes.prefix(mostChanges).map { ModelVersions.Change($0) },
      others: max(found.changes.count - mostChanges, 0), obstacles: found.obstacles.map(\.description),
      losses: found.losses.map(\.description), allowsLosses: allowsLosses)
  }

  /// The version before another; of the first, the one after it.
  private static func earlier(than version: String, among names: [String]) -> String? {
    guard let place = names.firstIndex(of: version), names.count > 1 else { return nil }
    return place == 0 ? names[1] : names[place - 1]
  }

  /// The name of the version that a folder of versions says is current; nil for a model without versions.
  private static func currentVersion(of url: URL, _ files: [String: URL]) throws -> String? {
    guard files.count > 1 else { return files.keys.first }
    let file: URL
    do {
      file = try ManagedObjectModel.currentContents(of: url).file
    } catch is ModelError {
      file = try ManagedObjectModel.compiledFile(of: url)
    }
    let path = file.standardizedFileURL.path
    return files.first { _, version in
      let version = version.standardizedFileURL.path
      return path == version || path.hasPrefix(version + "/")
    }?.key
  }
}

extension ModelVersions.Change {
  fileprivate init(_ change: ModelVersionDifference.Change) {
    self.init(
      change: change.kind.rawValue, entity: change.entity, property: change.property, old: change.old, new: change.new,
      data: change.effect.rawValue)
  }
}
