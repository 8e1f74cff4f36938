import ManagedObjects

/// The rows of a batch that were rejected, and the words for why.
struct RowRejections {
  private let batch: ConvertedBatch
  private let entity: EntityDescription
  private(set) var all: [Rejection] = []

  init(_ batch: ConvertedBatch) {
    self.batch = batch
    entity = batch.mapping.entity
  }

  mutating func reject(_ row: ConvertedBatch.Row, column: String = "", code: String, message: String) {
    all.append(batch.rejection(row, column: column, code: code, message: message))
  }

  mutating func reject(_ row: ConvertedBatch.Row, _ failure: ValidationFailure) {
    reject(row, column: failure.property, code: failure.code, message: failure.description)
  }

  /// A record without a key, in a mode that needs one.
  mutating func rejectKeyless(_ row: ConvertedBatch.Row) {
    let keys = batch.mapping.rules.identities.map { $0.map(\.name).joined(separator: "+") }.joined(separator: " or ")
    reject(row, code: "no_key", message: "the record doesn't say which \(entity.name) it is: it has no \(keys)")
  }

  /// An update of an object that doesn't exist.
  mutating func rejectUnknown(_ row: ConvertedBatch.Row, _ place: Int, _ key: UniqueKey) {
    let columns = batch.mapping.constraints[place].attributes.map(\.name).joined(separator: ", ")
    let text = key.values.map(\.plainText.shown).joined(separator: ", ")
    reject(
      row, column: columns, code: key.isPartial ? "no_key" : "no_such_object",
      message: key.isPartial
        ? "the record doesn't say which \(entity.name) it is: \(columns) is missing, or a part of it"
        : "there is no \(entity.name) with \(columns) “\(text)” to be updated")
  }

  /// A row whose key several objects have.
  mutating func rejectAmbiguous(_ row: ConvertedBatch.Row, _ place: Int, _ key: UniqueKey) {
    let columns = batch.mapping.constraints[place].attributes.map(\.name).joined(separator: ", ")
    let text = key.values.map(\.plainText.shown).joined(separator: ", ")
    reject(
      row, column: columns, code: "ambiguous_key",
      message:
        "there are several \(entity.name) with \(columns) “\(text)”, so the record doesn't say which one it is: delete "
        + "all but one. A uniqueness constraint in the model prevents this")
  }

  /// A row whose key another object has.
  mutating func rejectDuplicate(_ row: ConvertedBatch.Row, _ place: Int, _ values: ContiguousArray<Value>) {
    let attributes = batch.mapping.constraints[place].attributes
    all.append(batch.duplicate(row, attributes.map(\.name), values, entity))
  }

  /// A reference to an object that would have to be created and can't be valid.
  mutating func rejectInvalidPlaceholder(
    _ row: ConvertedBatch.Row, _ relationship: RelationshipDescription, _ failure: ValidationFailure
  ) {
    reject(
      row, column: relationship.name, code: failure.code,
      message: "no \(relationship.destinationEntity.name) can be made for \(relationship.name): "
        + failure.description)
  }

  /// A reference to an object that doesn't exist and that the row needs.
  mutating func rejectUnresolved(_ row: ConvertedBatch.Row, _ reference: ReferenceMapping, _ key: Value) {
    let relationship = reference.relationship
    reject(
      row, column: relationship.name, code: "no_such_object",
      message: "there is no \(relationship.destinationEntity.name) with \(reference.key.name) "
        + "“\(reference.key.shown(key))”, which \(relationship.name) needs")
  }

  /// A row that had to wait until after a later row of the same object.
  mutating func rejectSuperseded(_ row: ConvertedBatch.Row) {
    reject(
      row, code: "no_such_object",
      message:
        "an object that it refers to wasn't there before a later record of the same \(entity.name), which counts")
  }
}

extension ConvertedBatch {
  /// The rejection of a record whose object can't exist, because another has the same key.
  func duplicate(
    _ row: Row, _ constraint: [String], _ values: ContiguousArray<Value>, _ entity: EntityDescription
  ) -> Rejection {
    let columns = constraint.joined(separator: ", ")
    let key = constraint.map { name in entity.slot(of: name).map { values[$0].plainText.shown } ?? "" }.joined(
      separator: ", ")
    return rejection(
      row, column: columns, code: "duplicate_key",
      message: "there is a \(entity.name) with \(columns) “\(key)” already")
  }
}
