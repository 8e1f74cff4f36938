/// A hash table of objects by ID, with open addressing. IDs are numbered nearly in sequence, so one multiplication spreads
/// them. A look-up costs a third of a `Dictionary`'s.
struct ObjectTable {
  /// The number of the object in each place, so a search seldom touches objects.
  private var numbers: ContiguousArray<Int64> = []
  /// The places: their number is a power of two, and at most three in four are taken.
  private var objects: ContiguousArray<ManagedObject?> = []
  private(set) var count = 0

  /// Every object.
  var all: [ManagedObject] { objects.compactMap { $0 } }

  /// Calls `body` with every object.
  func forEach(_ body: (ManagedObject) -> Void) {
    for case let object? in objects { body(object) }
  }

  /// Makes room for more objects.
  mutating func reserve(_ more: Int) {
    let wanted = (count + more) * 4 / 3 + 1
    guard wanted > objects.count else { return }
    var capacity = max(16, objects.count)
    while capacity < wanted { capacity *= 2 }
    var larger = ObjectTable()
    larger.numbers = ContiguousArray(repeating: 0, count: capacity)
    larger.objects = ContiguousArray(repeating: nil, count: capacity)
    for case let object? in objects { larger.put(object) }
    self = larger
  }

  /// Inserts an object, or replaces the one with the same ID.
  mutating func insert(_ object: ManagedObject) {
    reserve(1)
    put(object)
  }

  func object(with id: ManagedObjectID) -> ManagedObject? {
    guard count > 0 else { return nil }
    let place = place(of: id)
    return objects[place]
  }

  /// The object with that ID, and whether only the table holds it.
  mutating func objectAlone(with id: ManagedObjectID) -> (object: ManagedObject, isAlone: Bool)? {
    guard count > 0 else { return nil }
    let place = place(of: id)
    let isAlone = isKnownUniquelyReferenced(&objects[place])
    return objects[place].map { ($0, isAlone) }
  }

  mutating func remove(_ id: ManagedObjectID) {
    guard count > 0 else { return }
    var hole = place(of: id)
    guard objects[hole] != nil else { return }
    count -= 1
    let mask = objects.count - 1
    var next = hole
    // Objects behind the hole that found no nearer place move up.
    while true {
      next = (next + 1) & mask
      guard let object = objects[next] else { break }
      let preferred = Self.preferredPlace(of: object.id, mask)
      if (next - preferred) & mask >= (next - hole) & mask {
        objects[hole] = object
        numbers[hole] = numbers[next]
        hole = next
      }
    }
    objects[hole] = nil
  }

  /// Releases unchanged objects that only the table holds.
  mutating func removeUnheld() {
    var kept = ContiguousArray<ManagedObject>()
    for place in objects.indices where objects[place] != nil {
      let isAlone = isKnownUniquelyReferenced(&objects[place])
      if let object = objects[place], !isAlone || !object.isForgettable {
        kept.append(object)
      }
    }
    self = ObjectTable()
    reserve(kept.count)
    for object in kept { put(object) }
  }

  private mutating func put(_ object: ManagedObject) {
    let place = place(of: object.id)
    if objects[place] == nil { count += 1 }
    numbers[place] = object.id.number
    objects[place] = object
  }

  /// The place of the object with that ID, or the one it would take.
  private func place(of id: ManagedObjectID) -> Int {
    let mask = objects.count - 1
    var place = Self.preferredPlace(of: id, mask)
    while true {
      guard let object = objects[place] else { return place }
      if numbers[place] == id.number, object.id == id { return place }
      place = (place + 1) & mask
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
