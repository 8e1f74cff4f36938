package import ManagedObjects

extension PredicateFixture {
  /// A row of the fixture, as the memory evaluator reads it.
  package struct Subject: PredicateSubject {
    package let row: Row

    package init(row: Row) { self.row = row }

    private static let byID = Dictionary(uniqueKeysWithValues: PredicateFixture.rows.map { ($0.id, $0) })

    package var subjectID: ManagedObjectID { row.id }
    package func value(inSlot slot: Int) -> Value { row.values[row.entity.properties[slot].name] ?? .null }
    package func subject(inSlot slot: Int) -> (any PredicateSubject)? {
      guard case .object(let id) = value(inSlot: slot) else { return nil }
      return Self.byID[id].map(Subject.init)
    }
    package func subjects(inSlot slot: Int) -> [any PredicateSubject] {
      guard let relationship = row.entity.properties[slot] as? RelationshipDescription else { return [] }
      return PredicateFixture.related(to: row.id, relationship).compactMap { Self.byID[$0].map(Subject.init) }
    }

    package static func all(_ entity: EntityDescription) -> [Subject] {
      PredicateFixture.rows(of: entity).map(Subject.init).sorted { $0.row.id.number < $1.row.id.number }
    }
  }
}
