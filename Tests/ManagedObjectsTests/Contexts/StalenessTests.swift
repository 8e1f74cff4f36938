import ManagedObjects
import StoreTestSupport
import TestSupport
import Testing

@Suite("How old the values of a fault may be")
struct StalenessTests {
  @Test("the store is read for every fault, unless older values are allowed", arguments: StoreKind.allCases)
  func intervals(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let (here, there) = (stack.context(), stack.context())
    let ada = try there.person("Ada", age: 30)
    try there.save()
    let mine = try #require(try here.all(Person.self).first)
    func change(to age: Int32) throws {
      ada.age = age
      try there.save()
      here.refresh(mine, mergeChanges: false)
    }
    try change(to: 31)
    #expect(here.stalenessInterval == 0 && mine.age == 31)
    here.stalenessInterval = -1
    here.refresh(mine, mergeChanges: false)
    #expect(mine.age == 31, "this reading is kept")
    try change(to: 32)
    let reads = stack.reads.items.count
    #expect(mine.age == 31 && stack.reads.items.count == reads)
    here.stalenessInterval = 1e-9
    here.refresh(mine, mergeChanges: false)
    #expect(mine.age == 32, "older than that")
    here.stalenessInterval = 0
    try change(to: 33)
    #expect(mine.age == 33)
  }

  @Test("saved and merged values are never replaced by older ones", arguments: StoreKind.allCases)
  func forgotten(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let (here, there) = (stack.context(), stack.context())
    here.stalenessInterval = -1
    let ada = try there.person("Ada", age: 30)
    try there.save()
    let mine = try #require(try here.all(Person.self).first)
    ada.age = 31
    here.mergeChanges(fromContextDidSave: try #require(try there.saveAndTell()))
    here.refresh(mine, mergeChanges: false)
    #expect(mine.age == 31)
    mine.age = 32
    try here.save()
    here.refresh(mine, mergeChanges: false)
    #expect(mine.age == 32)
  }
}
