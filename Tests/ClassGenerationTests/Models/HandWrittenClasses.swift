import ManagedObjects

/// What a book's place is, in a transformable attribute.
public struct Shelfmark: Codable, Hashable {
  var room: Int
  var shelf: String
}

/// The class of an entity whose accessors are generated.
class Loan: ManagedObject {
  var isOverdue: Bool { renewals > 3 }
}

/// The class of an entity of which nothing is generated.
final class Note: ManagedObject {
  override class var propertyNames: [String]? { ["text", "book"] }
  var text: String? {
    get { self[0] }
    set { self[0] = newValue }
  }
  var book: Book? {
    get { object(1) }
    set { setObject(newValue, 1) }
  }
}
