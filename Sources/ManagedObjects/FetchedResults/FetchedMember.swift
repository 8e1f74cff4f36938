/// An object of a controller's content, with what placed it there: the values it was sorted by, its section, and the ID
/// it had. They are the controller's own copy, so that the content can be searched while the objects change.
final class FetchedMember {
  let object: ManagedObject
  var id: ManagedObjectID
  var place: FetchedPlace

  init(_ object: ManagedObject, _ place: FetchedPlace) {
    self.object = object
    id = object.id
    self.place = place
  }
}

/// What places an object: its section's name and the values of the sort descriptors, of which there is mostly one.
struct FetchedPlace {
  var section: String
  var first: Value
  var rest: ContiguousArray<Value>

  /// Whether both lie at the same place, but for the objects' IDs.
  func isSame(as other: FetchedPlace) -> Bool {
    first == other.first && rest == other.rest && section == other.section
  }
}

/// The order of a controller's content: that of the request's sort descriptors, in memory as in the store.
struct FetchedOrder {
  let sort: [ResolvedSort]

  /// The values that a subject is sorted by.
  func place(of subject: any PredicateSubject, section: String) -> FetchedPlace {
    FetchedPlace(
      section: section, first: sort.first?.value(of: subject) ?? .null,
      rest: sort.count < 2 ? [] : ContiguousArray(sort.dropFirst().map { $0.value(of: subject) }))
  }

  /// Less than, equal to or greater than 0 as `a` comes before, with or after `b`.
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
