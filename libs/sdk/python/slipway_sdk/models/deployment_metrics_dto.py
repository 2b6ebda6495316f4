from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.revision_metrics_dto import RevisionMetricsDto


T = TypeVar("T", bound="DeploymentMetricsDto")


@_attrs_define
class DeploymentMetricsDto:
    """
    Attributes:
        complete_until (datetime.datetime | None): Until then the records of all gateways are there; steps that end
            later still change. Null: no gateway lives, or one has told nothing yet
        data (list[RevisionMetricsDto]): Newest first
        deployment (str):  Example: chat.
        from_ (datetime.datetime): Where the first step begins: a multiple of `step_seconds`
        has_more (bool): Whether further revisions had requests in that time: ask for them by `revision`
        step_seconds (int):
        to (datetime.datetime):
    """

    complete_until: datetime.datetime | None
    data: list[RevisionMetricsDto]
    deployment: str
    from_: datetime.datetime
    has_more: bool
    step_seconds: int
    to: datetime.datetime
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        complete_until: None | str
        if isinstance(self.complete_until, datetime.datetime):
            complete_until = self.complete_until.isoformat()
        else:
            complete_until = self.complete_until

        data = []
        for data_item_data in self.data:
            data_item = data_item_data.to_dict()
            data.append(data_item)

        deployment = self.deployment

        from_ = self.from_.isoformat()

        has_more = self.has_more

        step_seconds = self.step_seconds

        to = self.to.isoformat()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "complete_until": complete_until,
                "data": data,
                "deployment": deployment,
                "from": from_,
                "has_more": has_more,
                "step_seconds": step_seconds,
                "to": to,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.revision_metrics_dto import RevisionMetricsDto

        d = dict(src_dict)

        def _parse_complete_until(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                complete_until_type_0 = datetime.datetime.fromisoformat(data)

                return complete_until_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        complete_until = _parse_complete_until(d.pop("complete_until"))

        data = []
        _data = d.pop("data")
        for data_item_data in _data:
            data_item = RevisionMetricsDto.from_dict(data_item_data)

            data.append(data_item)

        deployment = d.pop("deployment")

        from_ = datetime.datetime.fromisoformat(d.pop("from"))

        has_more = d.pop("has_more")

        step_seconds = d.pop("step_seconds")

        to = datetime.datetime.fromisoformat(d.pop("to"))

        deployment_metrics_dto = cls(
            complete_until=complete_until,
            data=data,
            deployment=deployment,
            from_=from_,
            has_more=has_more,
            step_seconds=step_seconds,
            to=to,
        )

        deployment_metrics_dto.additional_properties = d
        return deployment_metrics_dto

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
