use super::records::Header;
use super::*;

fn header(length: u16, domain: u8, number: u16, time: u64) -> Vec<u8> {
    let mut record = length.to_be_bytes().to_vec();
    record.extend([0, 0, domain, 0]);
    record.extend(number.to_be_bytes());
    record.extend(time.to_be_bytes());
    record.resize(20, 0);
    record
}

fn record(length: u16, (domain, number): (u8, u16), fields: &[(usize, &[u8])]) -> Vec<u8> {
    let mut record = header(length, domain, number, 7 << 20);
    record.resize(usize::from(length), 0);
    for (at, bytes) in fields {
        record[*at..at + bytes.len()].copy_from_slice(bytes);
    }
    record
}

/// `2964`, `N96`, `02D1A7`, `ZVMPROD`.
fn configuration() -> Vec<u8> {
    record(
        184,
        (1, 4),
        &[
            (108, &[0xf2, 0xf9, 0xf6, 0xf4]),
            (112, &[0xd5, 0xf9, 0xf6, 0x40]),
            (128, &[0xf0, 0xf2, 0xc4, 0xf1, 0xc1, 0xf7, 0x40]),
            (154, &[0, 12]),
            (160, &[0xe9, 0xe5, 0xd4, 0xd7, 0xd9, 0xd6, 0xc4, 0x40]),
            (174, &[0, 12]),
        ],
    )
}

fn processor(address: u8, user: u64, wait: u64) -> Vec<u8> {
    let fields: [(usize, &[u8]); 3] = [
        (21, &[address]),
        (32, &user.to_be_bytes()),
        (68, &wait.to_be_bytes()),
    ];
    record(104, (0, 2), &fields)
}

/// A control frame for sets of so many frames, each full but for the last.
fn control(sets: &[(u32, u32)]) -> Vec<u8> {
    let mut frame = vec![0; MESSAGE];
    for (first, last) in sets {
        frame.extend([0x80, 0, 0, 0]);
        frame.extend(first.to_be_bytes());
        frame.extend(last.to_be_bytes());
    }
    frame.resize(FRAME, 0);
    frame
}

fn frame(records: &[Vec<u8>]) -> (Vec<u8>, u32) {
    let mut frame = records.concat();
    let length = frame.len() as u32;
    frame.resize(FRAME, 0xff);
    (frame, length)
}

/// Two intervals: in the first the records of two processors lie in different frames.
fn file() -> Vec<u8> {
    let full = frame(&[configuration(), processor(0, 10, 90), header(20, 1, 13, 0)]).0;
    let (last, length) = frame(&[processor(1, 20, 80), header(20, 1, 11, 0)]);
    let begin = 0x900_0000;
    let mut file = control(&[(begin, begin + 4096 + length - 1)]);
    file.extend(full);
    file.extend(last);
    let (second, length) = frame(&[processor(0, 30, 170), header(20, 1, 11, 0)]);
    file.extend(control(&[(begin, begin + length - 1)]));
    file.extend(second);
    file.extend(control(&[]));
    file
}

#[test]
fn records_are_found_in_all_frames_of_all_sets() {
    let found = read(&file()).unwrap();
    assert_eq!((found.dropped, found.remarks.len()), (0, 0));
    let recording = found.found;
    assert_eq!((recording.records, recording.intervals), (7, 2));
    let seen: Vec<_> = recording
        .processors
        .iter()
        .map(|one| (one.interval, one.address, one.user, one.wait, one.frame))
        .collect();
    assert_eq!(
        seen,
        [(0, 0, 10, 90, 2), (0, 1, 20, 80, 3), (1, 0, 30, 170, 5)]
    );
    let system = recording.configuration.unwrap();
    assert_eq!(
        (
            &*system.machine,
            &*system.model,
            &*system.serial,
            &*system.partition
        ),
        ("2964", "N96", "02D1A7", "ZVMPROD")
    );
    assert_eq!(
        (system.logical, system.dedicated, system.shared),
        (12, 0, 12)
    );
}

#[test]
fn what_is_cut_off_costs_its_own_frames_only() {
    let whole = file();
    let cut = read(&whole[..4 * FRAME]).unwrap();
    assert_eq!((cut.dropped, cut.found.processors.len()), (1, 2));
    let mut broken = whole.clone();
    // The length of the first record of the second frame.
    broken[2 * FRAME] = 0xff;
    let found = read(&broken).unwrap();
    assert_eq!((found.dropped, found.found.processors.len()), (1, 2));
}

/// Sets of two processors in one frame each, the second address of each control frame at its place.
fn many(sets: usize) -> Vec<u8> {
    let (data, length) = frame(&[
        processor(0, 10, 90),
        processor(1, 20, 80),
        header(20, 1, 11, 0),
    ]);
    let one = [control(&[(0x900_0000, 0x900_0000 + length - 1)]), data].concat();
    one.repeat(sets)
}

#[test]
fn a_damaged_control_frame_costs_its_own_records_at_most() {
    let sound = read(&many(100)).unwrap().found;
    assert_eq!((sound.records, sound.intervals), (300, 100));
    for at in [0, 50, 99] {
        let control = at * 2 * FRAME + MESSAGE;
        for (place, word) in [
            (8, [0xff; 4]),
            (8, [0x7f, 0xff, 0xff, 0xff]),
            (8, [0, 0, 0, 1]),
            (4, [0, 0, 0, 0]),
            (4, [0xff; 4]),
            (4, [0x09, 0, 0x00, 0x30]),
        ] {
            let mut file = many(100);
            file[control + place..control + place + 4].copy_from_slice(&word);
            let read = read(&file).unwrap();
            let kept = read.found.records;
            assert!(
                (297..=300).contains(&kept),
                "{at} {place} {word:x?}: {kept}"
            );
            assert!(
                (1..=3).contains(&read.dropped),
                "{at} {place}: {}",
                read.dropped
            );
        }
    }
}

#[test]
fn frames_without_their_control_frame_are_passed_over() {
    // Forty frames in a set whose control frame is gone, then a sound set.
    let data = many(1)[FRAME..].repeat(40);
    let file = [many(1), data, many(1)].concat();
    let read = read(&file).unwrap();
    assert_eq!((read.found.records, read.dropped), (6, 40));
    assert_eq!(read.remarks.len(), 1);
    assert_eq!(read.remarks[0].line, 3);
}

#[test]
fn another_layout_is_said_and_not_guessed() {
    let other = record(184, (1, 4), &[(108, &[0xc1, 0xc1, 0xc1, 0xc1])]);
    let (data, length) = frame(&[other, record(60, (0, 2), &[]), header(20, 1, 11, 0)]);
    let mut file = control(&[(0x1000, 0x1000 + length - 1)]);
    file.extend(data);
    let found = read(&file).unwrap();
    assert_eq!(found.dropped, 2);
    assert!(found.found.configuration.is_none() && found.found.processors.is_empty());
}

/// A set of one frame with these records and the end of an interval.
fn set(records: &[Vec<u8>]) -> Vec<u8> {
    let (data, length) = frame(&[records, &[header(20, 1, 11, 0)]].concat());
    [control(&[(0x1000, 0x1000 + length - 1)]), data].concat()
}

/// `LPAR` with two IFLs, whose times begin six or eight bytes into their entries.
fn partition(from: usize, told: u16) -> Vec<u8> {
    let entry = |address: u8| {
        let mut entry = vec![0, address, 0, 200];
        entry.resize(from, 0);
        entry.extend(5_u64.to_be_bytes());
        entry.extend(4_u64.to_be_bytes());
        entry.extend([0xc9, 0xc6, 0xd3, 0x40]);
        entry.resize(40, 0x40);
        entry
    };
    let fields: [(usize, &[u8]); 5] = [
        (20, &[0xd3, 0xd7, 0xc1, 0xd9, 0x40]),
        (28, &[3, 0, 2]),
        (32, &[0, 64]),
        (34, &told.to_be_bytes()),
        (64, &[entry(0), entry(1)].concat()),
    ];
    record(144, (0, 16), &fields)
}

#[test]
fn partitions_and_virtual_processors() {
    let user = record(
        508,
        (4, 3),
        &[
            (20, &[0xd3, 0xc9, 0xd5, 0xe4, 0xe7, 0xf1, 0x40]),
            (29, &[2]),
            (36, &9_u64.to_be_bytes()),
            (44, &8_u64.to_be_bytes()),
        ],
    );
    let machine = record(28, (0, 15), &[(27, &[24])]);
    for (from, told) in [(6, 40), (8, 40), (8, 80)] {
        let records = [partition(from, told), user.clone(), machine.clone()];
        let read = read(&set(&records)).unwrap();
        assert_eq!(read.dropped, 0);
        let (one, user) = (&read.found.partitions[0], &read.found.users[0]);
        assert_eq!((&*one.name, one.number), ("LPAR", 3));
        let second = &one.processors[1];
        assert_eq!(
            (second.address, second.weight, &*second.kind),
            (1, 200, "IFL")
        );
        assert_eq!((second.held, second.used), (5, 4));
        assert_eq!((&*user.name, user.address), ("LINUX1", 2));
        assert_eq!((user.charged, user.ran), (9, 8));
        assert_eq!(read.found.physical, Some(24));
    }
}

#[test]
fn a_partition_whose_entries_cannot_be_is_left_out() {
    let mut none = partition(6, 40);
    // A type that there is not.
    none[64 + 22] = 0xd9;
    for (why, record) in [
        ("type", none),
        ("length", partition(6, 39)),
        ("far", {
            let mut far = partition(6, 40);
            far[33] = 200;
            far
        }),
    ] {
        let read = read(&set(&[record])).unwrap();
        assert_eq!((read.dropped, read.found.partitions.len()), (1, 0), "{why}");
    }
}

#[test]
fn what_is_no_such_file_is_refused() {
    assert!(matches!(read(b""), Err(CaptureError::Empty { .. })));
    for bytes in [vec![0; 3 * FRAME], b"FCX100".to_vec(), vec![0xff; 9000]] {
        let refused = read(&bytes).unwrap_err().to_string();
        assert!(refused.contains("no control frame"), "{refused}");
        assert!(refused.contains("binary form"), "{refused}");
        assert!(!refused.contains("line"), "{refused}");
    }
    assert!(Header::at(&[0; 19], 0).is_none());
}
