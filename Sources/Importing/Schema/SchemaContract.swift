/// What a recipe accepts of files that don't fit the model. The terms are those of dlt's schema contracts.
package struct SchemaContract: Codable, Sendable, Hashable {
  /// What is done about a difference.
  package enum Term: String, Codable, Sendable, CaseIterable {
    /// The model gets a version that takes it, before the first record is imported.
    case evolve
    /// The job fails before it writes anything that it hasn't written yet.
    case freeze
    /// The record is rejected; of a new entity, the file is left out.
    case discardRow = "discard_row"
    /// The value is left out, as if the record had none; of a new entity, the file is left out.
    case discardValue = "discard_value"
  }

  /// What differs, as recipes name it.
  package enum Subject: String, Codable, Sendable, CaseIterable {
    case columns, types, entities
  }

  /// Columns that nothing takes and that the recipe doesn't ignore.
  package var columns = Term.discardValue
  /// Values that their attribute's type can't hold.
  package var types = Term.discardRow
  /// Files of an archive, sheets of a workbook, … that belong to no entity.
  package var entities = Term.discardRow

  package init() {}

  /// The same term for everything.
  package init(_ term: Term) { (columns, types, entities) = (term, term, term) }

  /// Whether the model may change for a file.
  package var evolves: Bool { columns == .evolve || types == .evolve || entities == .evolve }

  /// The contract of an import that changes nothing: the defaults take the place of `evolve`.
  package var withoutEvolution: SchemaContract {
    var contract = self
    let usual = SchemaContract()
    for subject in Subject.allCases where contract[subject] == .evolve { contract[subject] = usual[subject] }
    return contract
  }

  package subscript(subject: Subject) -> Term {
    get {
      switch subject {
      case .columns: columns
      case .types: types
      case .entities: entities
      }
    }
    set {
      switch subject {
      case .columns: columns = newValue
      case .types: types = newValue
      case .entities: entities = newValue
      }
    }
  }
}

extension ConversionCode {
  /// Whether a value is refused for its type, which is what a contract is about. Other values are wrong in every type.
  var isOfType: Bool {
    switch self {
    case .notAnInteger, .notANumber, .notABoolean, .notADate, .notAUUID, .notAURI, .notBase64, .notHexadecimal,
      .outOfRange, .tooPrecise, .wrongKind:
      true
    case .ambiguousBinary, .unknownValue, .cellError, .formulaWithoutValue: false
    }
  }
}
