from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.event_dto_data import EventDtoData


T = TypeVar("T", bound="EventDto")


@_attrs_define
class EventDto:
    """
    Attributes:
        actor (str):  Example: token:tok_1.
        data (EventDtoData):
        datacontenttype (str): One of `application/json`.
        id (str):
        operationid (None | str):
        revisionid (None | str):
        sequence (int): Position in the deployment, without gaps, in commit order
        source (str):  Example: /api/v1/deployments.
        specversion (str): One of `1.0`.
        subject (str):  Example: deployments/chat.
        time (datetime.datetime):
        type_ (str):  Example: route.updated.
    """

    actor: str
    data: EventDtoData
    datacontenttype: str
    id: str
    operationid: None | str
    revisionid: None | str
    sequence: int
    source: str
    specversion: str
    subject: str
    time: datetime.datetime
    type_: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        actor = self.actor

        data = self.data.to_dict()

        datacontenttype = self.datacontenttype

        id = self.id

        operationid: None | str
        operationid = self.operationid

        revisionid: None | str
        revisionid = self.revisionid

        sequence = self.sequence

        source = self.source

        specversion = self.specversion

        subject = self.subject

        time = self.time.isoformat()

        type_ = self.type_

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "actor": actor,
                "data": data,
                "datacontenttype": datacontenttype,
                "id": id,
                "operationid": operationid,
                "revisionid": revisionid,
                "sequence": sequence,
                "source": source,
                "specversion": specversion,
                "subject": subject,
                "time": time,
                "type": type_,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.event_dto_data import EventDtoData

        d = dict(src_dict)
        actor = d.pop("actor")

        data = EventDtoData.from_dict(d.pop("data"))

        datacontenttype = d.pop("datacontenttype")

        id = d.pop("id")

        def _parse_operationid(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        operationid = _parse_operationid(d.pop("operationid"))

        def _parse_revisionid(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        revisionid = _parse_revisionid(d.pop("revisionid"))

        sequence = d.pop("sequence")

        source = d.pop("source")

        specversion = d.pop("specversion")

        subject = d.pop("subject")

        time = datetime.datetime.fromisoformat(d.pop("time"))

        type_ = d.pop("type")

        event_dto = cls(
            actor=actor,
            data=data,
            datacontenttype=datacontenttype,
            id=id,
            operationid=operationid,
            revisionid=revisionid,
            sequence=sequence,
            source=source,
            specversion=specversion,
            subject=subject,
            time=time,
            type_=type_,
        )

        event_dto.additional_properties = d
        return event_dto

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
