import ManagedObjects

/// What may become of a store's rows when its model has changed.
package struct MigrationConfiguration: Sendable, Equatable {
  /// What a migration may lose.
  package enum Loss: Sendable, Equatable {
    /// Nothing: a store that would lose something isn't opened, and the daemon doesn't start.
    case nothing
    /// Everything that is no longer in the model.
    case anything
    /// Entities, with all that they have, and properties, as `Entity.property`.
    case these(Set<String>)
  }

  package var allowedLoss = Loss.nothing

  package init(allowedLoss: Loss = .nothing) { self.allowedLoss = allowedLoss }
}

extension MigrationConfiguration {
  /// As a store takes it. What was left out of the model isn't dropped from the store, unless the configuration says
  /// that it may be.
  var options: MigrationOptions {
    var options = MigrationOptions()
    switch allowedLoss {
    case .nothing: options.refusesLossyMigration = true
    case .anything: options.refusesLossyMigration = false
    case .these(let names):
      options.refusesLossyMigration = true
      options.permittedMigrationLosses = names
    }
    return options
  }

  enum Key: String, CaseIterable {
    case allowLoss = "allow_loss"
  }

  /// Nil with a problem reported.
  init?(_ value: YAMLValue) {
    guard let section = YAMLSection<Key>(value) else { return nil }
    self.init()
    guard let loss = section[.allowLoss] else { return }
    guard loss.node.isList else {
      guard let flag = loss.flag() else { return nil }
      allowedLoss = flag ? .anything : .nothing
      return
    }
    guard let elements = loss.elements(of: "entities and properties") else { return nil }
    let names = elements.compactMap { $0.text() }
    guard names.count == elements.count else { return nil }
    allowedLoss = .these(Set(names))
  }
}
