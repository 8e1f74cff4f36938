/// A hash table of objects by ID, with open addressing. IDs are numbered nearly in sequence, so one multiplication spreads
/// them. A look-up costs a third of a `Dictionary`'s.
struct ObjectTable {
  /// A place of the table. The number stands beside the object, so a search seldom touches objects, and the hit is in the
  /// same line of the processor's cache.
  private struct Place {
    var number: Int64 = 0
    var object: ManagedObject?
  }

  /// The same memory for a search, which doesn't count references: that would cost more than the comparison.
  private struct UncountedPlace {
    let number: Int64
    let object: Unmanaged<ManagedObject>?
  }

  /// The places: their number is a power of two, and at most three in four are taken.
  private var places: ContiguousArray<Place> = []
  private(set) var count = 0

  /// Every object.
  var all: [ManagedObject] { places.compactMap(\.object) }

  /// Calls `body` with every object.
  func forEach(_ body: (ManagedObject) -> Void) {
    for place in places { if let object = place.object { body(object) } }
  }

  /// Makes room for more objects.
  mutating func reserve(_ more: Int) {
    let wanted = (count + more) * 4 / 3 + 1
    guard wanted > places.count else { return }
    var capacity = max(16, places.count)
    while capacity < wanted { capacity *= 2 }
    var larger = ObjectTable()
    // Zeros are places without objects. `init(repeating:count:)` would count references for each.
    larger.places = ContiguousArray(unsafeUninitializedCapacity: capacity) { places, count in
      UnsafeMutableRawBufferPointer(places).initializeMemory(as: UInt8.self, repeating: 0)
      count = capacity
    }
    forEach { larger.put($0) }
    self = larger
  }

  /// Inserts an object, or replaces the one with the same ID.
  mutating func insert(_ object: ManagedObject) {
    reserve(1)
    put(object)
  }

  func object(with id: ManagedObjectID) -> ManagedObject? {
    guard count > 0 else { return nil }
    return places[place(of: id)].object
  }

  /// The object with that ID, and whether only the table holds it.
  mutating func objectAlone(with id: ManagedObjectID) -> (object: ManagedObject, isAlone: Bool)? {
    guard count > 0 else { return nil }
    let place = place(of: id)
    let isAlone = isKnownUniquelyReferenced(&places[place].object)
    return places[place].object.map { ($0, isAlone) }
  }

  mutating func remove(_ id: ManagedObjectID) {
    guard count > 0 else { return }
    var hole = place(of: id)
    guard places[hole].object != nil else { return }
    count -= 1
    let mask = places.count - 1
    var next = hole
    // Objects behind the hole that found no nearer place move up.
    while true {
      next = (next + 1) & mask
      guard let object = places[next].object else { break }
      let preferred = Self.preferredPlace(of: object.id, mask)
      if (next - preferred) & mask >= (next - hole) & mask {
        places[hole] = places[next]
        hole = next
      }
    }
    places[hole] = Place()
  }

  /// Releases unchanged objects that only the table holds.
  mutating func removeUnheld() {
    var kept = ContiguousArray<ManagedObject>()
    for place in places.indices where places[place].object != nil {
      let isAlone = isKnownUniquelyReferenced(&places[place].object)
      if let object = places[place].object, !isAlone || !object.isForgettable {
        kept.append(object)
      }
    }
    self = ObjectTable()
    reserve(kept.count)
    for object in kept { put(object) }
  }

  private mutating func put(_ object: ManagedObject) {
    let place = place(of: object.id)
    if places[place].object == nil { count += 1 }
    places[place] = Place(number: object.id.number, object: object)
  }

  /// The place of the object with that ID, or the one it would take.
  private func place(of id: ManagedObjectID) -> Int {
    let mask = places.count - 1
    return places.withUnsafeBytes { bytes in
      let places = bytes.bindMemory(to: UncountedPlace.self)
      var place = Self.preferredPlace(of: id, mask)
      while let object = places[place].object {
        if places[place].number == id.number, object._withUnsafeGuaranteedRef({ $0.id == id }) { break }
        place = (place + 1) & mask
      }
      return place
    }
  }

  private static func preferredPlace(of id: ManagedObjectID, _ mask: Int) -> Int {
    let spread = (UInt64(bitPattern: id.number) ^ id.scope.seed) &* 0x9E37_79B9_7F4A_7C15
    return Int(truncatingIfNeeded: spread >> 20) & mask
  }
}

extension ManagedObject {
  /// Whether its context may release it once nothing else holds it. An object with a temporary ID exists only in a parent
  /// and waits for its permanent ID.
  final var isForgettable: Bool { state == .clean && !id.isTemporaryID }
}
