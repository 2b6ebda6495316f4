from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.instance_device_dto import InstanceDeviceDto
    from ..models.instance_failure_dto import InstanceFailureDto
    from ..models.instance_progress_dto import InstanceProgressDto


T = TypeVar("T", bound="InstanceDto")


@_attrs_define
class InstanceDto:
    """
    Attributes:
        devices (list[InstanceDeviceDto]): Accelerators that it has
        drift (None | str): What somebody else has changed of it at its target, for people; it goes on nevertheless
        failure (InstanceFailureDto | None): Why its last start came to nothing, until one is ready
        generation (int): Number of its start
        id (str):  Example: ins_1.
        in_flight (int): Requests that gateways have in flight to it, as of their last report
        message (None | str): The same for people
        ordinal (int): Number within the revision, from 0
        place (None | str): Where within the target, such as a node
        progress (InstanceProgressDto | None): Of a start, where the target can tell
        reason (None | str): Why it is in this state, from a closed list
        restarts (int): Crashes since it was last wanted anew
        revision (str):  Example: chat-00007.
        started_at (datetime.datetime | None):
        state (str): `exited`: it is over, and starts again if it is still wanted. One of `pending`,
            `waiting_for_device`, `waiting_for_place`, `starting`, `ready`, `unhealthy`, `stopping`, `exited`.
        target (str): Execution target Example: local.
    """

    devices: list[InstanceDeviceDto]
    drift: None | str
    failure: InstanceFailureDto | None
    generation: int
    id: str
    in_flight: int
    message: None | str
    ordinal: int
    place: None | str
    progress: InstanceProgressDto | None
    reason: None | str
    restarts: int
    revision: str
    started_at: datetime.datetime | None
    state: str
    target: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.instance_failure_dto import InstanceFailureDto
        from ..models.instance_progress_dto import InstanceProgressDto

        devices = []
        for devices_item_data in self.devices:
            devices_item = devices_item_data.to_dict()
            devices.append(devices_item)

        drift: None | str
        drift = self.drift

        failure: dict[str, Any] | None
        if isinstance(self.failure, InstanceFailureDto):
            failure = self.failure.to_dict()
        else:
            failure = self.failure

        generation = self.generation

        id = self.id

        in_flight = self.in_flight

        message: None | str
        message = self.message

        ordinal = self.ordinal

        place: None | str
        place = self.place

        progress: dict[str, Any] | None
        if isinstance(self.progress, InstanceProgressDto):
            progress = self.progress.to_dict()
        else:
            progress = self.progress

        reason: None | str
        reason = self.reason

        restarts = self.restarts

        revision = self.revision

        started_at: None | str
        if isinstance(self.started_at, datetime.datetime):
            started_at = self.started_at.isoformat()
        else:
            started_at = self.started_at

        state = self.state

        target = self.target

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "devices": devices,
                "drift": drift,
                "failure": failure,
                "generation": generation,
                "id": id,
                "in_flight": in_flight,
                "message": message,
                "ordinal": ordinal,
                "place": place,
                "progress": progress,
                "reason": reason,
                "restarts": restarts,
                "revision": revision,
                "started_at": started_at,
                "state": state,
                "target": target,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.instance_device_dto import InstanceDeviceDto
        from ..models.instance_failure_dto import InstanceFailureDto
        from ..models.instance_progress_dto import InstanceProgressDto

        d = dict(src_dict)
        devices = []
        _devices = d.pop("devices")
        for devices_item_data in _devices:
            devices_item = InstanceDeviceDto.from_dict(devices_item_data)

            devices.append(devices_item)

        def _parse_drift(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        drift = _parse_drift(d.pop("drift"))

        def _parse_failure(data: object) -> InstanceFailureDto | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                failure_type_0 = InstanceFailureDto.from_dict(data)

                return failure_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(InstanceFailureDto | None, data)

        failure = _parse_failure(d.pop("failure"))

        generation = d.pop("generation")

        id = d.pop("id")

        in_flight = d.pop("in_flight")

        def _parse_message(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        message = _parse_message(d.pop("message"))

        ordinal = d.pop("ordinal")

        def _parse_place(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        place = _parse_place(d.pop("place"))

        def _parse_progress(data: object) -> InstanceProgressDto | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                progress_type_0 = InstanceProgressDto.from_dict(data)

                return progress_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(InstanceProgressDto | None, data)

        progress = _parse_progress(d.pop("progress"))

        def _parse_reason(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        reason = _parse_reason(d.pop("reason"))

        restarts = d.pop("restarts")

        revision = d.pop("revision")

        def _parse_started_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                started_at_type_0 = datetime.datetime.fromisoformat(data)

                return started_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        started_at = _parse_started_at(d.pop("started_at"))

        state = d.pop("state")

        target = d.pop("target")

        instance_dto = cls(
            devices=devices,
            drift=drift,
            failure=failure,
            generation=generation,
            id=id,
            in_flight=in_flight,
            message=message,
            ordinal=ordinal,
            place=place,
            progress=progress,
            reason=reason,
            restarts=restarts,
            revision=revision,
            started_at=started_at,
            state=state,
            target=target,
        )

        instance_dto.additional_properties = d
        return instance_dto

    @property
    def additional_keys(self) -> list[str]:
        return list(self.additional_properties.keys())

    def __getitem__(self, key: str) -> Any:
        return self.additional_properties[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.additional_properties[key] = value

    def __delitem__(self, key: str) -> None:
        del self.additional_properties[key]

    def __contains__(self, key: str) -> bool:
        return key in self.additional_properties
