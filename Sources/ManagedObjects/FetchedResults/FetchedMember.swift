/// An object of a controller's content, with the values it was sorted by, its section, and its ID. They are copies, so the
/// content can be searched while the objects change.
final class FetchedMember {
  let object: ManagedObject
  // Not private: `FetchedContent` updates both when the member moves.
  var id: ManagedObjectID
  var place: FetchedPlace

  init(_ object: ManagedObject, _ place: FetchedPlace) {
    self.object = object
    id = object.id
    self.place = place
  }
}

/// The place of an object: its section's name and the values of the sort descriptors, of which there is usually one.
struct FetchedPlace {
  var section: String
  var first: Value
  var rest: ContiguousArray<Value>

  /// Whether both places are the same, apart from the objects' IDs.
  func isSame(as other: FetchedPlace) -> Bool {
    first == other.first && rest == other.rest && section == other.section
  }
}

/// The order of a controller's content: that of the request's sort descriptors, the same in memory as in the store.
struct FetchedOrder {
  let sort: [ResolvedSort]

  /// The values that a subject is sorted by.
  func place(of subject: any PredicateSubject, section: String) -> FetchedPlace {
    FetchedPlace(
      section: section, first: sort.first?.value(of: subject) ?? .null,
      rest: sort.count < 2 ? [] : ContiguousArray(sort.dropFirst().map { $0.value(of: subject) }))
  }

  /// Less than, equal to or greater than 0 when `a` comes before, with or after `b`.
  func order(_ a: FetchedMember, _ b: FetchedMember) -> Int {
    guard let first = sort.first else { return sort.orderOfIDs(a.id, b.id) }
    let order = first.order(a.place.first, b.place.first)
    if order != 0 { return order }
    for (index, sort) in sort.dropFirst().enumerated() {
      let order = sort.order(a.place.rest[index], b.place.rest[index])
      if order != 0 { return order }
    }
    return sort.orderOfIDs(a.id, b.id)
  }

  /// The first index of `members` where `member` could stand.
  func position(of member: FetchedMember, in members: ContiguousArray<FetchedMember>) -> Int {
    var (low, high) = (0, members.count)
    while low < high {
      let middle = (low + high) / 2
      if order(members[middle], member) < 0 { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

extension ManagedObject {
  /// The object as the class of its controller.
  ///
  /// Safe without a check: the request brings only objects of that class, and `FetchedSelection.isOfClass` keeps others out of
  /// the content. Debug builds check it.
  final func asMember<T: ManagedObject>(of type: T.Type) -> T { unsafeDowncast(self, to: T.self) }
}
