/// Objects by their IDs: open addressing over numbers, which are nearly in sequence and need no more than a
/// multiplication to be spread. A third of what a `Dictionary` costs a look-up.
struct ObjectTable {
  /// The number of the object in each place, so that a search seldom touches objects.
  private var numbers: ContiguousArray<Int64> = []
  /// A power of two of places, of which at most three in four are taken.
  private var objects: ContiguousArray<ManagedObject?> = []
  private(set) var count = 0

  /// Every object.
  var all: [ManagedObject] { objects.compactMap { $0 } }

  /// Calls `body` with every object.
  func forEach(_ body: (ManagedObject) -> Void) {
    for case let object? in objects { body(object) }
  }

  /// Makes room for so many more objects.
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

  /// Puts an object in, in the place of the one with the same ID, if there is one.
  mutating func insert(_ object: ManagedObject) {
    reserve(1)
    put(object)
  }

  func object(with id: ManagedObjectID) -> ManagedObject? {
    guard count > 0 else { return nil }
    let place = place(of: id)
    return objects[place]
  }

  /// The object with that ID, and whether nobody else holds it.
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
    // Whoever was put behind the hole for want of a nearer place moves up.
    while true {
      next = (next + 1) & mask
      guard let object = objects[next] else { break }
      let home = Self.home(of: object.id, mask)
      if (next - home) & mask >= (next - hole) & mask {
        objects[hole] = object
        numbers[hole] = numbers[next]
        hole = next
      }
    }
    objects[hole] = nil
  }

  /// Lets go of unchanged objects that nobody else holds.
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

  /// Where the object with that ID is, or would be put.
  private func place(of id: ManagedObjectID) -> Int {
    let mask = objects.count - 1
    var place = Self.home(of: id, mask)
    while true {
      guard let object = objects[place] else { return place }
      if numbers[place] == id.number, object.id == id { return place }
      place = (place + 1) & mask
    }
  }

  private static func home(of id: ManagedObjectID, _ mask: Int) -> Int {
    let spread = (UInt64(bitPattern: id.number) ^ id.scope.seed) &* 0x9E37_79B9_7F4A_7C15
    return Int(truncatingIfNeeded: spread >> 20) & mask
  }
}

extension ManagedObject {
  /// Whether its context may forget it once nobody holds it. What has no permanent ID yet is in a parent only, and will be
  /// told of its ID.
  final var isForgettable: Bool { state == .clean && !id.isTemporaryID }
}
